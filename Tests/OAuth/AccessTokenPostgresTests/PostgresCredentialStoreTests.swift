#if Postgres
import AccessTokenContract
import AccessTokenCore
import AccessTokenPostgres
import AccessTokenSynchronization
import ContractHarness
import CredentialStoreContract
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@Suite("The store in PostgreSQL", .takesTurns, .needsPostgres, .endsHangs)
struct PostgresCredentialStoreTests {
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

    private func subject(clock: any AccessTokenClock = SystemClock()) -> StoreSubject {
        let database = database
        return StoreSubject(
            "the store in PostgreSQL",
            features: [.openings, .waitLimit],
            promises: ["X2"]
        ) { fixture in
            let connection = database.connectionString(as: fixture.name)
            return PostgresCredentialStores(connection, waitLimit: fixture.waitLimit, clock: clock)
                .store(for: fixture.name)
        } loseExclusion: { fixture in
            try await database.terminate(fixture.name)
        }
    }

    @Test func `keeps the contract, and nothing is skipped`() async throws {
        let clauses = StoreContract.clauses.filter { $0.id != "L1" }
        let report = await StoreContract.verify(subject(), clauses: clauses, timeLimit: 30)
        #expect(report.isKept, "\(report)")
        #expect(report.rows.count { if case .skipped = $0.outcome { true } else { false } } == 0)
    }

    /// By a manual clock, a process whose connections are cut is not seen to live again.
    @Test func `keeps the clause on lost exclusion`() async throws {
        let clauses = StoreContract.clauses.filter { $0.id == "L1" }
        let report = await StoreContract.verify(subject(clock: ManualClock()), clauses: clauses, timeLimit: 30)
        #expect(report.isKept, "\(report)")
        #expect(report.rows.count { if case .skipped = $0.outcome { true } else { false } } == 0)
    }

    /// Dates are counted from the age of the row, and so they differ with each look.
    @Test func `is seen to have the same session at each look, for which a grant is made once`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let dated = Date.now.addingTimeInterval(-60)
        let expired = AccessToken(value: "A0", expiration: dated)
        let store = database.store()
        try await store.update { _ in
            .replace(Credential(accessToken: expired, refreshToken: nil, obtained: dated))
        }
        let made = Locked(0)
        let endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        let exchange = TokenExchange(endpoint) {
            made.withLock { $0 += 1 }
            return .refreshToken(server.signIn().refreshToken)
        }
        let token = try await OAuthLoader(exchange, store: store).load(replacing: expired)
        #expect(try await store.load()?.credential.accessToken?.value == token.value)
        #expect(made.withLock { $0 } == 1)
        #expect(server.tally.tokenRequests == 1)
    }

    // MARK: Beginning

    @Test func `fifty openings make the table at once`() async throws {
        let database = database
        let creation = try await database.connection()
        try await creation.run("BEGIN")
        try await creation.run("SELECT pg_advisory_xact_lock(hashtext('access_token_credentials'))")
        async let versions = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 1...50 {
                group.addTask {
                    try await database.store().update { _ in .replace(Credential(refreshToken: "\(number)")) }?.version
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        try await database.waitForWaiters(50)
        try await creation.run("COMMIT")
        #expect(try await versions.count == 50)
        #expect(try await database.run("SELECT 1 FROM access_token_credentials").count == 1)
    }

    @Test func `a load finds nobody signed in where there is no table, and makes none`() async throws {
        #expect(try await database.store().load() == nil)
        let tables = "SELECT 1 FROM pg_tables WHERE schemaname = $1"
        #expect(try await database.run(tables, [database.application]).isEmpty)
    }

    @Test func `a name can hold anything that SQL reads in its own way`() async throws {
        let name = "\(database.application)'; DROP TABLE access_token_credentials; --$1\\"
        let store = database.stores().store(for: name)
        try await store.update { _ in .replace(first) }
        #expect(try await store.load()?.credential == first)
        #expect(try await database.store().load() == nil)
    }

    @Test func `versions go on over a row that somebody has deleted`() async throws {
        let before = try #require(try await filledStore().load()?.version)
        try await database.run("DELETE FROM access_token_credentials WHERE name = $1", [database.application])
        #expect(try await database.store().load() == nil)
        #expect(try #require(try await filledStore().load()?.version) >= before)
        // They begin with the time in seconds; a row that begins with zero would be behind its predecessor.
        #expect(before > 1_700_000_000)
    }

    @Test func `a name with a character that the database cannot hold is an error that says so`() async throws {
        _ = try await filledStore()
        let store = database.stores().store(for: "a\0b")
        for call in [{ _ = try await store.load() }, { try await store.update { _ in .keep } }] {
            let error = await #expect(throws: CredentialStoreError.self) { try await call() }
            #expect(error?.isTransient == false)
            #expect(error?.description.contains("the account's name has a character") == true)
        }
    }

    // MARK: Waiting, between openings

    @Test func `a row that another opening holds is busy after the limit`() async throws {
        let store = try await filledStore()
        try await store.update { _ in
            await #expect(throws: CredentialStoreError.busy) {
                try await database.store(waitLimit: 0.05).update { _ in
                    Issue.record("the body was run")
                    return .keep
                }
            }
            return .keep
        }
        try await database.store(waitLimit: 60).update { _ in .keep }
    }

    @Test func `a cancelled task no longer waits for a row that another opening holds`() async throws {
        let (database, clock) = (database, ManualClock())
        try await database.store().update { _ in
            let waiter = Task {
                try await database.store(waitLimit: 600, clock: clock).update { _ in
                    Issue.record("the body was run")
                    return .keep
                }
            }
            // A sign of life, a rest, and the next attempt.
            await yieldUntil { clock.pendingTimers == 3 }
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.valueInTime }
            return .keep
        }
    }

    @Test func `a row that a transaction of others has locked is waited for, as one that is held`() async throws {
        let store = try await filledStore()
        let other = try await database.connection()
        try await other.run("BEGIN")
        try await other.run("SELECT 1 FROM access_token_credentials FOR UPDATE")
        async let record = store.update { _ in .replace(second) }
        try await database.waitForWaiters(1)
        try await other.run("COMMIT")
        #expect(try await record?.credential == second)
    }

    @Test(arguments: ["repeatable\\\\ read", "serializable"])
    func `a row that another transaction writes is waited for, whatever isolation the database is set to`(
        isolation: String
    ) async throws {
        _ = try await filledStore()
        let options = "options='-c search_path=\(database.application) -c default_transaction_isolation=\(isolation)'"
        let connection = "\(database.connectionString) \(options)"
        let store = PostgresCredentialStores(connection).store(for: database.application)
        let other = try await database.connection()
        try await other.run("BEGIN")
        try await other.run("UPDATE access_token_credentials SET holder = holder")
        async let record = store.update { _ in .replace(second) }
        try await database.waitForWaiters(1)
        try await other.run("COMMIT")
        #expect(try await record?.credential == second)
    }

    // MARK: Trouble

    @Test func `a connection that ends during the commit is an error which says that nobody knows`() async throws {
        let store = try await filledStore()
        try await database.run(
            """
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS \
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END'
            """
        )
        try await database.run(
            """
            CREATE CONSTRAINT TRIGGER die AFTER UPDATE ON access_token_credentials \
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.version > OLD.version) EXECUTE FUNCTION die()
            """
        )
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in .replace(second) }
        }
        #expect(error?.description.contains("written or not") == true)
        #expect(error?.isTransient == true)
        #expect(try await store.load()?.credential == first)
    }

    // MARK: What cannot be read

    @Test func `a wrong key is an error, and signs nobody out`() async throws {
        let store = database.store(.adding(1))
        try await store.update { _ in .replace(first) }
        for seal in [CredentialSeal.adding(2), nil] {
            let error = await #expect(throws: CredentialStoreError.self) { try await database.store(seal).load() }
            #expect(error?.isUnreadable == true)
            #expect(error?.place?.contains(database.application) == true)
            await #expect(throws: CredentialStoreError.self) {
                try await database.store(seal).update { _ in .replace(second) }
            }
        }
        #expect(try await store.load()?.credential == first)
        let stored = "SELECT record FROM access_token_credentials WHERE name = $1"
        let bytes = try #require(try await database.run(stored, [database.application]).first?.first ?? nil)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("RT1"))
        let version = try #require(try await store.load()?.version)
        try await database.stores(.adding(2)).reset(database.application)
        #expect(try await store.load() == nil)
        #expect(try await store.update { _ in .replace(second) }?.version == version + 2)
    }

    @Test func `a sign-out that could not read a record removes no session that begins before it is inside`()
        async throws
    {
        let store = try #require(try await filledStore() as? any PlacedCredentialStore)
        try await database.stores().store(for: "new").update { _ in .replace(second) }
        func set(_ record: String) -> String {
            "UPDATE access_token_credentials SET record = \(record) WHERE name = '\(database.application)'"
        }
        try await database.run(set("'damaged'"))
        let other = try await database.connection()
        try await other.run("BEGIN")
        try await other.run("SELECT 1 FROM access_token_credentials FOR UPDATE")
        async let reset: Void = store.reset(evenIfReadable: false)
        try await database.waitForWaiters(1)
        try await other.run(set("(SELECT record FROM access_token_credentials WHERE name = 'new')"))
        try await other.run("COMMIT")
        try await reset
        #expect(try await store.load()?.credential == second)
        // What is still unreadable is removed.
        try await database.run(set("'damaged'"))
        try await store.reset(evenIfReadable: false)
        #expect(try await store.load() == nil)
    }

    // MARK: Clocks

    @Test(arguments: [-86_400.0, 86_400])
    func `a clock that is wrong by a day hands out tokens for as long as they live`(_ error: TimeInterval) async throws
    {
        let wrong = ManualClock(now: .now.addingTimeInterval(error))
        let token = AccessToken(value: "AT", expiration: wrong.now.addingTimeInterval(3_600))
        let credential = Credential(accessToken: token, refreshToken: "RT", obtained: wrong.now)
        try await database.store(clock: wrong).update { _ in .replace(credential) }
        let elsewhere = try #require(try await database.store().load()?.credential)
        #expect(abs(try #require(elsewhere.accessToken?.expiration).timeIntervalSinceNow - 3_600) < 120)
        #expect(abs(try #require(elsewhere.obtained).timeIntervalSinceNow) < 120)
        // An hour passes at the database.
        let hour = "UPDATE access_token_credentials SET written = written - interval '1 hour' WHERE name = $1"
        try await database.run(hour, [database.application])
        let later = try #require(try await database.store(clock: wrong).load()?.credential.accessToken?.expiration)
        #expect(later <= wrong.now)
    }

    // MARK: What a person has to mend

    @Test(arguments: [
        "ALTER TABLE access_token_credentials DROP COLUMN written",
        "ALTER TABLE access_token_credentials RENAME COLUMN record TO other",
    ])
    func `a table that is not ours is not transient`(_ statement: String) async throws {
        let store = try await filledStore()
        try await database.run(statement)
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in .replace(second) }
        }
        #expect(error?.isTransient == false)
        let missing = "\(try #require(TestDatabase.connection)) dbname=\(database.application)"
        let none = await #expect(throws: CredentialStoreError.self) {
            try await PostgresCredentialStores(missing).store(for: "x").load()
        }
        #expect(none?.isTransient == false)
    }

    @Test(arguments: [
        "TRIGGER quote BEFORE UPDATE ON access_token_credentials",
        "CONSTRAINT TRIGGER quote AFTER UPDATE ON access_token_credentials DEFERRABLE INITIALLY DEFERRED",
    ])
    func `a trigger that quotes the row puts nothing of it into an error, and nothing is sent`(
        _ trigger: String
    ) async throws {
        let store = try await filledStore()
        try await database.run(
            """
            CREATE FUNCTION quote() RETURNS trigger LANGUAGE plpgsql AS \
            'BEGIN RAISE EXCEPTION ''%'', convert_from(NEW.record, ''UTF8''); END'
            """
        )
        try await database.run("CREATE \(trigger) FOR EACH ROW EXECUTE FUNCTION quote()")
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let endpoint = TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: "loopback-client"))
        let error = await #expect(throws: CredentialStoreError.self) {
            try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil)
        }
        #expect(error?.description.contains("trigger") == true)
        #expect(error.map { everythingShown(by: $0).contains("s3cret") } == false)
        #expect(server.tally.tokenRequests == 0)
    }

    // MARK: Secrets

    @Test(arguments: [
        "host=/nowhere user=u password=s3cret", "postgresql://u:s3cret@127.0.0.1:1/db",
        "postgresql://u:s3@cret@localhost:1/db",
        "postgresql://u:s3cret/x@localhost/db", "postgresql://u:1/s3cret@localhost/db", "password='s3cret", "s3cret",
        "postgresql://u:%s3cret@localhost/db",
    ])
    func `a password never shows`(_ connection: String) async throws {
        let store = PostgresCredentialStores(connection).store(for: "x")
        let error = await #expect(throws: CredentialStoreError.self) { try await store.load() }
        let updating = await #expect(throws: CredentialStoreError.self) { try await store.update { _ in .keep } }
        #expect(error?.isTransient == true)
        for text in [everythingShown(by: store), everythingShown(by: error), everythingShown(by: updating)] {
            #expect(!text.contains("cret"), "\(text)")
        }
    }

    @Test func `the error of a server that refuses the password has the server's words, and no password`() async throws
    {
        let wrong = "\(try #require(TestDatabase.connection)) password='s3cret \(database.application)'"
        let error = await #expect(throws: CredentialStoreError.self) {
            try await PostgresCredentialStores(wrong).store(for: "x").load()
        }
        #expect(error?.description.contains("password authentication failed") == true)
        #expect(error?.isTransient == false)
        #expect(error.map { everythingShown(by: $0).contains("s3cret") } == false)
    }
}

@Suite(
    "A PostgreSQL server that restarts",
    .needsPostgres,
    .enabled(if: TestDatabase.restart != nil, "Everybody else would be disconnected: .ci/deep postgres"),
    .endsHangs
)
struct PostgresRestartTests {
    @Test func `while a body runs keeps nothing of it from being written`() async throws {
        let database = try await TestDatabase()
        let store = database.store()
        try await store.update { _ in .replace(Credential(refreshToken: "RT1")) }
        try await store.update { _ in
            try TestDatabase.restartServer()
            return .replace(Credential(refreshToken: "RT2"))
        }
        #expect(try await store.load()?.credential.refreshToken == "RT2")
    }
}
#endif
