import AccessTokenContract
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@Suite("Retries with backoff", .takesTurns, .endsHangs)
struct RetryingLoaderTests {
    private let clock = ManualClock()
    private let token = AccessToken(value: "A")
    private let down = OAuthError.unavailable(status: 500)

    private func retrying(_ base: ListLoader, retries: Int = 3) -> RetryingLoader {
        RetryingLoader(base, retries: retries, firstDelay: 1, longestDelay: 5, clock: clock) { $0.upperBound }
    }

    /// Lets so many seconds pass once the loader waits, and checks that half a second less is not enough.
    private func expectDelay(_ seconds: TimeInterval, before load: Int, of base: ListLoader) async {
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: seconds - 0.5)
        #expect(clock.pendingTimers == 1)
        #expect(base.loads == load - 1)
        clock.advance(by: 0.5)
        await yieldUntil { base.loads == load }
    }

    @Test func `each retry may wait for twice as long, up to a limit, and the last error is the answer`() async {
        let base = ListLoader(.failure(down))
        let loader = retrying(base, retries: 4)
        let load = Task { try await loader.load(replacing: nil) }
        await expectDelay(1, before: 2, of: base)
        await expectDelay(2, before: 3, of: base)
        await expectDelay(4, before: 4, of: base)
        await expectDelay(5, before: 5, of: base)
        await #expect(throws: down) { try await load.valueInTime }
        #expect(base.loads == 5)
    }

    @Test func `by itself it waits for any time from nothing to the limit`() async throws {
        let ranges = Locked<[ClosedRange<TimeInterval>]>([])
        let base = ListLoader(.failure(down), .failure(down), .success(token))
        let loader = RetryingLoader(base, firstDelay: 1, clock: clock) { range in
            ranges.withLock { $0.append(range) }
            return range.lowerBound
        }
        let load = Task { try await loader.load(replacing: nil) }
        for _ in 0..<2 {
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 0)
        }
        #expect(try await load.valueInTime == token)
        #expect(ranges.withLock { $0 } == [0...1, 0...2])
    }

    @Test func `an error of the store that may pass is tried again, and one that a person has to mend is not`()
        async throws
    {
        let broken = CredentialStoreError.unavailable(at: "disk", "full", needsRepair: true)
        let base = ListLoader(.failure(CredentialStoreError.busy), .failure(broken))
        let load = Task { try await retrying(base).load(replacing: nil) }
        await expectDelay(1, before: 2, of: base)
        await #expect(throws: broken) { try await load.valueInTime }
        #expect(base.loads == 2)
    }

    /// Tells when its load has ended.
    private struct TellingLoader: AsyncAccessTokenLoader {
        let base: RetryingLoader
        let hasEnded: Event

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            defer { hasEnded.happen() }
            return try await base.load(replacing: old)
        }

        func signOut() async {}
    }

    /// The next load may have sent the same refresh token meanwhile.
    @Test func `a load that is past its deadline is not tried again`() async {
        let base = ListLoader(.failure(down))
        let retrying = RetryingLoader(base, firstDelay: 100, longestDelay: 100, clock: clock) { $0.upperBound }
        let hasEnded = Event()
        let service = AsyncAccessTokenService(loader: TellingLoader(base: retrying, hasEnded: hasEnded), clock: clock)
        let caller = Task { try await service.token() }
        await yieldUntil { clock.pendingTimers == 2 }
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        clock.advance(by: 40)
        await hasEnded.wait()
        #expect(base.loads == 1)
    }

    @Test func `times that make no sense do no harm`() async throws {
        for delay in [-1, .nan, .infinity] {
            let base = ListLoader(.failure(down), .success(token))
            let loader = RetryingLoader(base, firstDelay: delay, longestDelay: .infinity, clock: clock)
            let load = Task { try await loader.load(replacing: nil) }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 86_400)
            #expect(try await load.valueInTime == token)
        }
    }

    @Test func `it waits for what the server asks for, and gives up where that is too long`() async throws {
        let base = ListLoader(.failure(OAuthError.unavailable(status: 429, retryAfter: 5)), .success(token))
        let loader = retrying(base)
        let load = Task { try await loader.load(replacing: nil) }
        // By chance a second more: all who were asked to wait for five would come back together.
        await expectDelay(6, before: 2, of: base)
        #expect(try await load.valueInTime == token)

        let hurried = ListLoader(.failure(OAuthError.unavailable(status: 429, retryAfter: 5.1)))
        await #expect(throws: OAuthError.unavailable(status: 429, retryAfter: 5.1)) {
            try await retrying(hurried).load(replacing: nil)
        }
        #expect(hurried.loads == 1)
    }

    @Test(
        arguments: [
            (.refused("invalid_grant"), 1), (.refused("invalid_client"), 1), (.bodyTooLong, 1),
            (.redirected(status: 307), 1), (.notUnderstood(status: 200, "it is not JSON"), 1),
            (.connectionLost(code: -1), 2), (.timedOut, 2), (.unavailable(status: 503), 2),
            (.unreachable(code: -1004), 4), (.unavailable(status: 429), 4), (.assertionTimedOut, 4),
        ] as [(OAuthError, Int)]
    )
    func `what does not pass is sent once, what may have been carried out twice, and all else as often as is allowed`(
        error: OAuthError,
        loads: Int
    ) async {
        let base = ListLoader(.failure(error))
        let loader = RetryingLoader(base, retries: 3, clock: InstantClock())
        await #expect(throws: error) { try await loader.load(replacing: nil) }
        #expect(base.loads == loads)
    }

    @Test func `what was not carried out does not use up the one more time`() async {
        let lost = OAuthError.connectionLost(code: -1)
        let base = ListLoader(.failure(down), .failure(lost), .failure(down), .failure(lost), .failure(down))
        let loader = RetryingLoader(base, retries: 9, clock: InstantClock())
        await #expect(throws: lost) { try await loader.load(replacing: nil) }
        #expect(base.loads == 4)
    }

    /// As itself the error would say that the loader's own store has failed, and that nothing was sent.
    @Test func `a store's error of the app's own exchange is tried once more only`() async {
        let calls = Locked(0)
        let exchange = TokenExchange { _ in
            calls.withLock { $0 += 1 }
            throw CredentialStoreError.busy
        }
        let store = MemoryCredentialStore(Credential(refreshToken: "RT"))
        let loader = RetryingLoader(OAuthLoader(exchange, store: store), retries: 3, clock: InstantClock())
        await #expect(throws: OAuthError.connectionLost(code: -1)) { try await loader.load(replacing: nil) }
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func `during a slow sign-out nothing is tried again`() async {
        let mayEnd = Event()
        let base = ListLoader(.failure(down), .success(token), onSignOut: { await mayEnd.wait() })
        let loader = retrying(base)
        let load = Task { try await loader.load(replacing: nil) }
        await yieldUntil { clock.pendingTimers == 1 }
        let signOut = Task { await loader.signOut() }
        await yieldUntil { base.signOuts == 1 }
        clock.advance(by: 1)
        await #expect(throws: AccessTokenError.signedOut) { try await load.valueInTime }
        #expect(base.loads == 1)
        mayEnd.happen()
        await signOut.value
    }

    @Test func `a load whose task is cancelled ends at once, and is not tried again`() async {
        let base = ListLoader(.failure(down), .success(token))
        let loader = retrying(base)
        let load = Task { try await loader.load(replacing: nil) }
        await yieldUntil { clock.pendingTimers == 1 }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.valueInTime }
        #expect(base.loads == 1)
        #expect(clock.pendingTimers == 0)
    }
}
