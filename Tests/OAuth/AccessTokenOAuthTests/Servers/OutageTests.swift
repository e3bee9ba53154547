import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

extension RealServerTests {
    @Suite("A server in trouble")
    struct OutageTests {
        private static let callers = 100

        /// A hundred callers of both kinds whose loads go through a proxy that does these things.
        private func withCallers(
            of server: RealServer,
            _ faults: [Fault],
            clock: any AccessTokenClock = InstantClock(),
            retries: Int = 3,
            during: () async throws -> Void = {},
            then check: (ScriptedServer, MemoryCredentialStore, [Result<AccessToken, any Error>], Int) async throws ->
                Void
        ) async throws {
            let credential = try await server.signIn()
            let old = try #require(credential.accessToken)
            let store = MemoryCredentialStore(credential)
            let before = try server.tokenRequests
            try await withProxy(to: server, faults) { proxy in
                let services = Services(try server.endpoint(by: proxy), store) { loader in
                    ThrottlingLoader(RetryingLoader(loader, retries: retries, clock: clock))
                }
                for service in services.all { #expect(try await service.token() == old) }
                let callers = Task {
                    await services.callers(Self.callers) { service in
                        await service.invalidate(old)
                        return try await service.token()
                    }
                }
                try await during()
                try await check(proxy, store, await callers.value, before)
            }
        }

        @Test(arguments: RealServer.all, [Fault.loseReply, .cutBody])
        func `whose reply is lost after it was carried out is asked once more`(
            server: RealServer,
            fault: Fault
        ) async throws {
            try await withCallers(of: server, [fault]) { (proxy, store, results, before) async throws in
                // The lost one, and the one that follows it.
                #expect(await server.tokenRequests(since: before, expected: 2) == 2)
                #expect(proxy.requests.count == 2)
                if server.rotates {
                    // Its successor was in that reply only: the session has ended, and everybody is told so.
                    #expect(results.allSatisfy { $0.hasToSignIn })
                    #expect(try await store.credential == nil)
                } else {
                    let token = try results[0].get()
                    #expect(try results.allSatisfy { try $0.get() == token })
                }
            }
        }

        @Test(
            .enabled(if: RealServer.django != nil, Comment(rawValue: RealServer.command)),
            arguments: [Fault.loseReply, .cutBody]
        )
        func `whose reply is lost within its period of grace costs nobody the session`(fault: Fault) async throws {
            let server = try #require(RealServer.django)
            try await server.kill()
            try await server.startAgain(grace: 120)
            try await withCallers(of: server, [fault]) { (proxy, _, results, _) async throws in
                let token = try results[0].get()
                #expect(try results.allSatisfy { try $0.get() == token })
                #expect(try await server.status(for: token) == 200)
                #expect(proxy.requests.count == 2)
            }
            try await server.kill()
            try await server.startAgain()
        }

        @Test(arguments: RealServer.all)
        func `that dies during a load and comes back is asked again, by one caller for all`(server: RealServer)
            async throws
        {
            let (hasArrived, isDead) = (Event(), Gate())
            let clock = HeldClock()
            try await withCallers(of: server, [.holdRequest(hasArrived, isDead)], clock: clock) {
                await hasArrived.wait()
                try await server.kill()
                isDead.open()
                // The load has failed, and waits before it tries again.
                await clock.hasScheduled.wait()
                try await server.startAgain()
                clock.release()
            } then: { (proxy, store, results, before) async throws in
                if server.rotates {
                    let token = try results[0].get()
                    #expect(try results.allSatisfy { try $0.get() == token })
                    #expect(try await server.status(for: token) == 200)
                } else {
                    // It keeps its sessions in memory.
                    #expect(results.allSatisfy { $0.hasToSignIn })
                    #expect(try await store.credential == nil)
                }
                // The other service may have knocked while no server was there; only one request was heard.
                #expect((2...3).contains(proxy.requests.count))
                #expect(await server.tokenRequests(since: before, expected: 1) == 1)
            }
        }

        @Test(arguments: RealServer.all)
        func `that is slower than the deadline spends no second refresh token, and its late reply is kept`(
            server: RealServer
        ) async throws {
            let clock = ManualClock(now: .now)
            let store = MemoryCredentialStore(try await server.signIn())
            let old = try await store.credential?.accessToken
            let before = try server.tokenRequests
            let (isCarriedOut, gate) = (Event(), Gate())
            try await withProxy(to: server, [.holdReply(isCarriedOut, gate)]) { proxy in
                let loader = OAuthLoader(endpoint: try server.endpoint(by: proxy, clock: clock), store: store)
                let late = Task { try await loader.load(replacing: old) }
                await isCarriedOut.wait()
                await yieldUntil { clock.pendingTimers > 0 }
                clock.advance(by: 30)
                await #expect(throws: OAuthError.timedOut) { try await late.value }
                let next = Task { try await loader.load(replacing: old) }
                gate.open()
                #expect(try await server.status(for: try await next.value) == 200)
                #expect(await server.tokenRequests(since: before, expected: 1) == 1)
                let last = try await store.credential?.accessToken
                #expect(try await server.status(for: try await loader.load(replacing: last)) == 200)
            }
        }
    }
}
