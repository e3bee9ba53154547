import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What the server issued and the store did not take", .eightAtATime, .timeLimit(.minutes(10)))
struct SavingTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    private func withRotation<Value>(
        _ body: (ScriptedServer, TroubledStore, OAuthLoader) async throws -> Value
    ) async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let store = TroubledStore(start)
            _ = try await body(server, store, OAuthLoader(endpoint: try server.endpoint(), store: store))
        }
    }

    @Test(arguments: [1, 2])
    func `is saved again, and not exchanged again`(failures: Int) async throws {
        try await withRotation { (server, store, loader) async throws in
            store.fail(failures)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is not handed out before it is saved, and is the first thing that the next load saves`() async throws {
        try await withRotation { (server, store, loader) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            #expect(try await store.credential == start)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
            #expect(try await loader.load(replacing: AccessToken(value: "A1")).value == "A2")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `was taken after all when the store only said that it failed`() async throws {
        try await withRotation { (server, store, loader) async throws in
            store.failAfterWriting(1)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.version == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `never takes the place of something newer`() async throws {
        try await withRotation { (server, store, loader) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            let newer = Credential(accessToken: AccessToken(value: "newer"), refreshToken: "newer")
            try await store.base.update { _ in .replace(newer) }
            #expect(try await loader.load(replacing: old).value == "newer")
            #expect(try await store.credential == newer)
        }
    }

    @Test func `does not come back after a sign-out, and is what is revoked`() async throws {
        try await withRotation { (server, store, loader) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            await loader.signOut()
            #expect(server.requests.last?.body.hasPrefix("token=RT1&") == true)
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: old) }
            #expect(try await store.credential == nil)
        }
    }

    @Test func `of a sign-in is reported, and the session has not begun`() async throws {
        try await withRotation { (_, store, loader) async throws in
            store.fail(1)
            func signInAsLegacyCode(then handler: @escaping @Sendable (Result<Void, any Error>) -> Void) {
                loader.signIn(Credential(refreshToken: "other"), then: handler)
            }
            let first = await withCheckedContinuation { continuation in
                signInAsLegacyCode { continuation.resume(returning: $0) }
            }
            #expect(throws: TroubledStore.Trouble()) { try first.get() }
            #expect(try await store.credential == start)
            let second = await withCheckedContinuation { continuation in
                signInAsLegacyCode { continuation.resume(returning: $0) }
            }
            #expect(throws: Never.self) { try second.get() }
            #expect(try await store.refreshToken == "other")
        }
    }

    @Test func `of a token that has expired on arrival is an answer all the same`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1", "RT1", lifetime: 0))
        } _: { server in
            let store = TroubledStore(start)
            store.fail(1)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a store that is busy is looked at once more, and nothing is sent`() async throws {
        try await withRotation { (server, _, _) async throws in
            let clock = ManualClock()
            let peer = AccessToken(value: "peer")
            let store = MemoryCredentialStore(
                Credential(accessToken: peer, refreshToken: "RT"),
                waitLimit: 10,
                clock: clock
            )
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            let (isInside, mayLeave) = (Event(), Event())
            async let holder = store.update { _ in
                isInside.happen()
                await mayLeave.wait()
                return .keep
            }
            await isInside.wait()
            for (replaced, outcome) in [(old, peer), (peer, nil)] {
                let load = Task { try await loader.load(replacing: replaced) }
                await yieldUntil { clock.pendingTimers == 1 }
                clock.advance(by: 10)
                if let outcome {
                    #expect(try await load.valueInTime == outcome)
                } else {
                    await #expect(throws: CredentialStoreError.busy) { try await load.valueInTime }
                }
            }
            mayLeave.happen()
            _ = try await holder
            #expect(server.requests.isEmpty)
        }
    }
}
