import AccessTokenAdapters
import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A throttle after failures", .takesTurns, .endsHangs)
struct ThrottlingLoaderTests {
    private let clock = ManualClock()
    private let token = AccessToken(value: "A")
    private let down = OAuthError.unavailable(status: 503)

    private func throttling(_ base: ListLoader) -> ThrottlingLoader {
        ThrottlingLoader(base, pause: 10, longestPause: 60, clock: clock)
    }

    private func expectFailures(_ count: Int, _ error: OAuthError, of loader: ThrottlingLoader) async {
        for _ in 0..<count { await #expect(throws: error) { try await loader.load(replacing: nil) } }
    }

    @Test func `a failure answers for a moment, and then the server is asked again`() async throws {
        let base = ListLoader(.failure(down), .success(token))
        let loader = throttling(base)
        await expectFailures(200, down, of: loader)
        #expect(base.loads == 1)
        clock.advance(by: 9.5)
        await expectFailures(1, down, of: loader)
        clock.advance(by: 0.5)
        #expect(try await loader.load(replacing: nil) == token)
        #expect(try await loader.load(replacing: token) == token)
        #expect(base.loads == 3)
    }

    @Test func `the server may ask for a longer moment, within limits`() async throws {
        for (asked, pause) in [(1.0, 10.0), (30, 30), (3600, 60)] {
            let error = OAuthError.unavailable(status: 429, retryAfter: asked)
            let base = ListLoader(.failure(error), .success(token))
            let loader = throttling(base)
            await expectFailures(1, error, of: loader)
            clock.advance(by: pause - 1)
            await expectFailures(1, error, of: loader)
            clock.advance(by: 1)
            #expect(try await loader.load(replacing: nil) == token)
        }
    }

    @Test func `that nobody is signed in is found out anew each time, as after a cancellation`() async {
        let errors: [any Error] = [
            OAuthError.refused("invalid_grant"), AccessTokenError.signedOut, CancellationError(),
            CredentialStoreError.unreadable(at: "place", "it is damaged"),
        ]
        for error in errors {
            let base = ListLoader(.failure(error))
            let loader = throttling(base)
            for _ in 0..<3 { await #expect(throws: (any Error).self) { try await loader.load(replacing: nil) } }
            #expect(base.loads == 3)
        }
    }

    @Test func `a clock that is set back does not prolong it`() async throws {
        let base = ListLoader(.failure(down), .success(token))
        let loader = throttling(base)
        await expectFailures(1, down, of: loader)
        clock.setWallClock(to: clock.now.addingTimeInterval(-3600))
        #expect(try await loader.load(replacing: nil) == token)
    }

    @Test func `a sign-out forgets the failure, as does whoever knows better`() async throws {
        let base = ListLoader(.failure(down), .failure(down), .success(token))
        let loader = throttling(base)
        await expectFailures(2, down, of: loader)
        await loader.signOut()
        #expect(base.signOuts == 1)
        await expectFailures(2, down, of: loader)
        #expect(base.loads == 2)
        loader.forgetFailure()
        #expect(try await loader.load(replacing: nil) == token)
    }

    @Test func `a failure of the session that ended answers nobody in the next`() async throws {
        let (isInside, mayLeave) = (Event(), Event())
        let base = ListLoader(.failure(down), .success(token)) { number in
            guard number == 1 else { return }
            isInside.happen()
            await mayLeave.wait()
        } onSignOut: {
            mayLeave.happen()
        }
        let loader = throttling(base)
        let load = Task { try await loader.load(replacing: nil) }
        await isInside.wait()
        await loader.signOut()
        await #expect(throws: down) { try await load.valueInTime }
        #expect(try await loader.load(replacing: nil) == token)
    }

    @Test func `a failure answers nobody after a sign-in`() async throws {
        let service = AsyncAccessTokenService(loader: throttling(ListLoader(.failure(down), .success(token))))
        await #expect(throws: down) { try await service.token() }
        await #expect(throws: down) { try await service.token() }
        await service.signIn()
        #expect(try await service.token() == token)
    }

    @Test func `a load that fails past its deadline does not fail the next load`() async throws {
        let (isInside, mayLeave, hasFailed) = (Event(), Event(), Event())
        let base = ListLoader(.failure(down), .success(token), .success(AccessToken(value: "B"))) { number in
            guard number == 1 else { return }
            isInside.happen()
            await mayLeave.wait()
        }
        let service = AsyncAccessTokenService(loader: throttling(base), clock: clock) { event in
            if event.kind == .ignoredWorthlessAnswer { hasFailed.happen() }
        }
        let caller = Task { try await service.token() }
        await isInside.wait()
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        #expect(try await service.token() == token)
        mayLeave.happen()
        await hasFailed.wait()
        await service.invalidate(token)
        #expect(try await service.token().value == "B")
    }

    @Test func `a failure answers nobody after a load that succeeds`() async throws {
        let (isInside, mayLeave) = (Event(), Event())
        let base = ListLoader(.success(token), .failure(down), .success(token)) { number in
            guard number == 1 else { return }
            isInside.happen()
            await mayLeave.wait()
        }
        let loader = throttling(base)
        let load = Task { try await loader.load(replacing: nil) }
        await isInside.wait()
        await expectFailures(2, down, of: loader)
        mayLeave.happen()
        #expect(try await load.valueInTime == token)
        #expect(try await loader.load(replacing: nil) == token)
        #expect(base.loads == 3)
    }
}
