#if Postgres
import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenPostgres

/// What a server does with the sessions that other processes end; the page shows it.
enum EndedSessionsExample {
    static func watch(
        _ stores: PostgresCredentialStores,
        _ accounts: AccessTokenAccounts<String, AsyncAccessTokenService>
    ) async {
        for await user in stores.endedSessions() {
            if let service = accounts.existingService(for: user), let token = service.currentToken {
                await service.invalidate(token)
            }
        }
    }
}

@Suite("Sessions that another process ends", .takesTurns, .needsPostgres, .endsHangs)
struct EndedSessionsTests {
    private let database: TestDatabase
    private let server = StrictServer { _ in }

    init() async throws { database = try await TestDatabase() }

    /// The accounts of a process that hears what the others end.
    private func accounts(_ stores: PostgresCredentialStores) -> AccessTokenAccounts<String, AsyncAccessTokenService> {
        let exchange = server.exchange(deadline: 60)
        return AccessTokenAccounts {
            AsyncAccessTokenService(loader: OAuthLoader(exchange, store: stores.store(for: $0)))
        }
    }

    private func waitUntilGone(_ service: AsyncAccessTokenService) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while service.currentToken != nil {
            try #require(ContinuousClock.now < end, "its token is still handed out")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func `are looked at again at once, also those that ended while the connection was away`() async throws {
        let stores = database.stores()
        let accounts = accounts(stores)
        let watch = Task { await EndedSessionsExample.watch(stores, accounts) }
        for (user, isCut) in [("told", false), ("missed", true)] {
            try await stores.store(for: user).update { _ in .replace(server.signIn(user)) }
            let service = accounts.service(for: user)
            #expect(try await service.token().value == "A/\(user)/2")
            let other = OAuthLoader(server.exchange(deadline: 60), store: database.stores().store(for: user))
            if isCut {
                // Nothing is told on a connection that is there no more.
                try await database.run(
                    "UPDATE access_token_credentials SET record = NULL, version = version + 1, written = now() WHERE name = $1",
                    [user]
                )
                try await database.terminate()
            } else {
                await other.signOut()
            }
            try await waitUntilGone(service)
            await #expect(throws: AccessTokenError.signedOut) { try await service.token() }
        }
        watch.cancel()
        await watch.value
    }

    /// A channel is the whole database's.
    @Test func `are not told of a table in another schema, in which an account has the same name`() async throws {
        let (stores, others, elsewhere) = (database.stores(), database.stores(), try await TestDatabase().stores())
        func end(_ user: String, _ stores: PostgresCredentialStores) async throws {
            try await stores.store(for: user).update { _ in .replace(server.signIn(user)) }
            try await stores.store(for: user).update { _ in .remove }
        }
        try await others.store(for: "user").update { _ in .replace(server.signIn("user")) }
        try await database.run("UPDATE access_token_credentials SET written = written - interval '1 hour'")
        let isListening = Event()
        let watch = Task {
            var told: Set<String> = []
            for await user in stores.endedSessions() {
                told.insert(user)
                isListening.happen()
                if user == "last" { break }
            }
            return told
        }
        try await end("first", others)
        await isListening.wait()
        try await end("user", elsewhere)
        try await end("last", others)
        // Names of other tests, which have no record here, may be told as well.
        #expect(await !watch.value.contains("user"))
    }

    @Test func `and that has begun anew meanwhile go on`() async throws {
        let stores = database.stores()
        let accounts = accounts(stores)
        let told = ["first": Event(), "user": Event()]
        let watch = Task {
            for await user in stores.endedSessions() {
                let service = accounts.service(for: user)
                if let token = service.currentToken { await service.invalidate(token) }
                told[user]?.happen()
            }
        }
        let others = database.stores()
        func other(_ user: String) -> OAuthLoader {
            OAuthLoader(server.exchange(deadline: 60), store: others.store(for: user))
        }
        try await other("first").signIn(server.signIn("first"))
        await other("first").signOut()
        // From here on, the process listens.
        await told["first"]?.wait()
        try await other("user").signIn(server.signIn("user"))
        #expect(try await accounts.service(for: "user").token().value == "A/user/2")
        await other("user").signOut()
        try await other("user").signIn(server.signIn("again"))
        await told["user"]?.wait()
        #expect(try await accounts.service(for: "user").token().value == "A/again/2")
        #expect(try await stores.accounts().map(\.name) == ["user"])
        watch.cancel()
        await watch.value
    }

    @Test func `keep nobody from being renewed while a large table is read for those that were missed`() async throws {
        let (proxy, clock) = (try DatabaseProxy.toServer(), ManualClock())
        defer { proxy.stop() }
        for change in [.replace(server.signIn("missed")), .remove] as [CredentialChange] {
            try await database.stores().store(for: "missed").update { _ in change }
        }
        let reading = StatementWatch("record IS NULL AND written")
        let (isReading, mayEnd) = (Event(), DispatchSemaphore(value: 0))
        defer { mayEnd.signal() }
        proxy.onClient { data in
            guard reading.sees(data) else { return .pass }
            isReading.happen()
            // Longer than a look may take, if nobody signals.
            _ = mayEnd.wait(timeout: .now() + 2 * PostgresPresence.deadline)
            return .pass
        }
        let connection = proxy.connectionString(database.connectionString)
        let stores = PostgresCredentialStores(connection, connections: 2, clock: clock)
        let (ended, isTold) = (stores.endedSessions(), Event())
        let watch = Task { for await user in ended where user == "missed" { isTold.happen() } }
        try await stores.store(for: "user").update { _ in .replace(server.signIn("user")) }
        let locks = """
            SELECT pid::text FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND application_name = $1
            """
        let backend = try #require(try await database.run(locks, [database.application]).first?.first ?? nil)
        // The next look, and the rest of the pool.
        await yieldUntil { clock.pendingTimers == 2 }
        clock.advance(by: PostgresPresence.pulse)
        await isReading.wait()
        // The connection with the lock answers, and is the same as before.
        await #expect(throws: PostgresFailure.self) { try await stores.presence.check(backend) { false } }
        try await stores.store(for: "user").update { _ in .keep }
        mayEnd.signal()
        await isTold.wait()
        watch.cancel()
        await watch.value
    }

    /// A machine may sleep as well, and its own clock with it.
    @Test func `are told, though the clock of the database is an hour ahead when the connection is back`()
        async throws
    {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        try await database.run("CREATE TABLE clock (ahead interval)")
        try await database.run("INSERT INTO clock VALUES ('0')")
        try await database.run(
            """
            CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS \
            'SELECT pg_catalog.clock_timestamp() + ahead FROM clock'
            """
        )
        let options = "options='-c search_path=\(database.application),pg_catalog'"
        let connection = "\(proxy.connectionString(database.connectionString)) \(options)"
        let stores = PostgresCredentialStores(connection, connections: 2)
        // Names of other tests may be told as well.
        let (first, second) = ("\(database.application) 1", "\(database.application) 2")
        for user in [first, second] {
            try await stores.store(for: user).update { _ in .replace(server.signIn(user)) }
        }
        let told = [first: Event(), second: Event()]
        let watch = Task { for await user in stores.endedSessions() { told[user]?.happen() } }
        try await database.stores().store(for: first).update { _ in .remove }
        // From here on, the process listens.
        await told[first]?.wait()
        proxy.refuse(true)
        proxy.cut()
        try await database.run(
            "UPDATE access_token_credentials SET record = NULL, version = version + 1, written = now() WHERE name = $1",
            [second]
        )
        try await database.run("UPDATE clock SET ahead = '1 hour'")
        proxy.refuse(false)
        await told[second]?.wait()
        watch.cancel()
        await watch.value
    }

    /// The connection stays as long as a body is inside.
    @Test func `are forgotten while nobody listens, and the next one who listens is told what was missed`()
        async throws
    {
        let clock = ManualClock()
        let presence = database.stores(clock: clock).presence
        try await presence.begin { false }
        func look() async {
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: PostgresPresence.pulse)
            await yieldUntil { clock.pendingTimers == 1 }
        }
        let isListening = Event()
        let first = presence.listen {
            false
        } asking: { _ in
            isListening.happen()
            return []
        } _: { _ in
        }
        await look()
        await isListening.wait()
        presence.stopListening(first)
        // Names of other tests may be told as well.
        let (user, missed) = ("\(database.application) 1", "\(database.application) 2")
        for change in [.replace(server.signIn(user)), .remove] as [CredentialChange] {
            try await database.stores().store(for: user).update { _ in change }
        }
        await look()
        let told = Locked<Set<String>>([])
        let isTold = Event()
        let second = presence.listen {
            false
        } asking: { _ in
            [missed]
        } _: { name in
            told.withLock { _ = $0.insert(name) }
            if name == missed { isTold.happen() }
        }
        await look()
        await isTold.wait()
        #expect(!told.withLock { $0.contains(user) })
        presence.stopListening(second)
        presence.end()
    }

    @Test func `cost no connection when nobody listens any more`() async throws {
        let stores = database.stores()
        try await stores.store(for: "user").update { _ in .replace(server.signIn("user")) }
        let watch = Task { for await _ in stores.endedSessions() {} }
        watch.cancel()
        await watch.value
        try await database.waitForConnections(0, where: "true")
    }
}
#endif
