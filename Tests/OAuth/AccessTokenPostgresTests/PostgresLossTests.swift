#if Postgres
import AccessTokenContract
import AccessTokenCore
import AccessTokenPostgres
import CredentialStoreContract
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@Suite("The store in PostgreSQL, when its connections are cut", .takesTurns, .needsPostgres, .endsHangs)
struct PostgresLossTests {
    private let first = Credential(refreshToken: "RT1 s3cret")
    private let second = Credential(refreshToken: "RT2 s3cret")
    private let database: TestDatabase

    init() async throws { database = try await TestDatabase() }

    /// A store with the first credential in it.
    private func filledStore() async throws -> any CredentialStore {
        let store = database.store()
        try await store.update { _ in .replace(first) }
        return store
    }

    /// By a manual clock: the process does not notice that its connections are gone.
    @Test(arguments: [false, true])
    func `a body that outlives its connections writes, unless another opening has written`(
        _ hasRival: Bool
    ) async throws {
        let rival = try await filledStore()
        let database = database
        let update = Task {
            try await database.store(clock: ManualClock()).update { _ in
                try await database.terminate()
                if hasRival { try await rival.update { _ in .replace(Credential(refreshToken: "RT3")) } }
                return .replace(second)
            }
        }
        if hasRival {
            await #expect(throws: CredentialStoreError.superseded) { try await update.value }
        } else {
            #expect(try await update.value?.credential == second)
        }
        #expect(try await rival.load()?.credential.refreshToken == (hasRival ? "RT3" : second.refreshToken))
        try await rival.update { _ in .keep }
    }

    @Test func `a process whose connections are cut keeps its row if nobody was there meanwhile`() async throws {
        let (database, clock, second) = (database, ManualClock(), second)
        let locks = """
            SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND application_name = $1
            """
        try await database.store(clock: clock).update { _ in
            try await database.terminate()
            #expect(try await database.run(locks, [database.application]).isEmpty)
            let start = ContinuousClock.now
            while try await database.run(locks, [database.application]).isEmpty {
                // The timer of the next look may not be set yet.
                clock.advance(by: 1)
                try #require(start.duration(to: .now) < .seconds(60), "nobody looked")
            }
            await #expect(throws: CredentialStoreError.busy) {
                try await database.store(waitLimit: 0.05).update { _ in
                    Issue.record("the body was run")
                    return .keep
                }
            }
            return .replace(second)
        }
    }

    /// The attack: B signs out while A's reply is on its way and A's connections are cut.
    @Test(arguments: 1...15)
    func `a sign-out beside an exchange whose connections are cut is not undone`(round: Int) async throws {
        let (database, isAsked, mayAnswer) = (database, Event(), DispatchSemaphore(value: 0))
        let server = try RotatingAuthorizationServer { event in
            guard case .tokenRequested = event else { return }
            isAsked.happen()
            mayAnswer.wait()
        }
        defer { server.stop() }
        let store = database.store()
        try await store.update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        // By a manual clock, A looks at its connections only when it writes.
        let late = database.store(clock: ManualClock())
        let load = Task { try await OAuthLoader(endpoint: endpoint, store: late).load(replacing: nil) }
        await isAsked.wait()
        try await database.terminate()
        await OAuthLoader(endpoint: endpoint, store: store).signOut()
        #expect(try await store.load() == nil)
        let next = Credential(accessToken: AccessToken(value: "A2"), refreshToken: "RT2")
        let hasNext = round.isMultiple(of: 2)
        if hasNext { try await store.update { _ in .replace(next) } }
        mayAnswer.signal()
        let result = await load.result
        if hasNext {
            #expect(try result.get().value == "A2")
        } else {
            #expect(throws: AccessTokenError.signedOut) { try result.get() }
        }
        #expect(try await store.load()?.credential == (hasNext ? next : nil))
    }

    @Test func `a row that could not be given up is given up later`() async throws {
        let (store, database, clock) = (try await filledStore(), database, ManualClock())
        let holder = database.store(clock: clock)
        try await holder.update { _ in
            try await database.run("ALTER TABLE access_token_credentials RENAME TO gone")
            return .keep
        }
        try await database.run("ALTER TABLE gone RENAME TO access_token_credentials")
        await #expect(throws: CredentialStoreError.busy) {
            try await database.store(waitLimit: 0.05).update { _ in .keep }
        }
        await yieldUntil { clock.pendingTimers > 0 }
        async let next = store.update { _ in .replace(second) }
        while try await database.store().load()?.credential != second { clock.advance(by: 1) }
        #expect(try await next?.credential == second)
        // While it lives, its row is its own.
        #expect(try await holder.load()?.credential == second)
    }

    @Test func `what the server issued while the connection was cut is saved, and not exchanged again`() async throws {
        let (database, isCut) = (database, DispatchSemaphore(value: 0))
        let server = try RotatingAuthorizationServer { event in
            guard case .tokenRequested = event else { return }
            Task {
                try? await database.terminate()
                isCut.signal()
            }
            // It holds a thread of the server's own.
            isCut.wait()
        }
        defer { server.stop() }
        let store = database.store()
        try await store.update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        let token = try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil)
        #expect(try await store.load()?.credential.accessToken?.value == token.value)
        #expect(server.tally.tokenRequests == 1)
    }
}
#endif
