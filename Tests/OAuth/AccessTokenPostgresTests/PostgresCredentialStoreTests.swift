#if Postgres
import AccessTokenCore
import AccessTokenPostgres
import CredentialStoreContract
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@Suite("The store in PostgreSQL", .eightAtATime, .needsPostgres, .timeLimit(.minutes(10)))
struct PostgresCredentialStoreTests {
    private let first = Credential(refreshToken: "RT1 s3cret")
    private let second = Credential(refreshToken: "RT2 s3cret")
    private let database: TestDatabase

    init() async throws { database = try await TestDatabase() }

    /// A store with the first credential in it.
    private func filledStore() async throws -> PostgresCredentialStore {
        let store = database.store()
        try await store.update { _ in .replace(first) }
        return store
    }

    @Test func `keeps the contract, and nothing is skipped`() async throws {
        let connection = database.connectionString
        let subject = StoreSubject(
            "the store in PostgreSQL",
            features: [.openings, .waitLimit],
            promises: ["X2"]
        ) { fixture in
            PostgresCredentialStore(connection, name: fixture.name, waitLimit: fixture.waitLimit)
        }
        let report = await StoreContract.verify(subject, timeLimit: 30)
        #expect(report.isKept, "\(report)")
        #expect(report.rows.count { if case .skipped = $0.outcome { true } else { false } } == 0)
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
        let store = PostgresCredentialStore(database.connectionString, name: name)
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

    // MARK: Waiting, between openings

    @Test func `a row that another opening holds is busy after the limit, by the server's own time-out`() async throws {
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
        let store = database.store(holdLimit: 600)
        let database = database
        try await store.update { _ in
            let waiter = Task {
                try await database.store(waitLimit: 600).update { _ in
                    Issue.record("the body was run")
                    return .keep
                }
            }
            try await database.waitForWaiters(1)
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.valueInTime }
            return .keep
        }
    }

    // MARK: Trouble

    @Test func `a connection that ends while the body runs has written nothing, and keeps nobody out`() async throws {
        let store = try await filledStore()
        await #expect(throws: CredentialStoreError.superseded) {
            try await store.update { _ in
                try await database.terminate()
                return .replace(second)
            }
        }
        #expect(try await store.load()?.credential == first)
        try await store.update { _ in .replace(second) }
        #expect(try await store.load()?.credential == second)
    }

    @Test(arguments: [false, true])
    func `a body that outlives its connection takes its row again, unless another opening has written`(
        _ hasRival: Bool
    ) async throws {
        let rival = try await filledStore()
        let (clock, database) = (ManualClock(), database)
        let update = Task {
            try await database.store(clock: clock).update { _ in
                try await database.terminate()
                if hasRival { try await rival.update { _ in .replace(Credential(refreshToken: "RT3")) } }
                // The next sign of life finds the connection broken.
                await yieldUntil { clock.pendingTimers == 1 }
                clock.advance(by: 1)
                try await database.waitForConnections(1, where: "state = 'idle in transaction'")
                return .replace(second)
            }
        }
        if hasRival {
            await #expect(throws: CredentialStoreError.superseded) { try await update.value }
        } else {
            #expect(try await update.value?.credential == second)
        }
        #expect(try await rival.load()?.credential.refreshToken == (hasRival ? "RT3" : second.refreshToken))
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

    @Test func `a body that takes longer than the limit loses the row`() async throws {
        let (database, second) = (database, second)
        try await database.store().update { _ in .replace(first) }
        let slow = database.store(holdLimit: 0.05)
        let hasBegun = Locked(false)
        var error: CredentialStoreError?
        // The limit holds between the statements before the body as well, and a busy machine may exceed it there.
        while !hasBegun.withLock({ $0 }) {
            error = await #expect(throws: CredentialStoreError.self) {
                try await slow.update { _ in
                    hasBegun.withLock { $0 = true }
                    try await database.waitForConnections(0, where: "true")
                    try await database.store().update { _ in .keep }
                    return .replace(second)
                }
            }
        }
        #expect(error == .superseded)
        #expect(try await database.store().load()?.credential == first)
    }

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
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()
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
        try await database.store(.adding(2)).reset()
        #expect(try await store.load() == nil)
        #expect(try await store.update { _ in .replace(second) }?.version == version + 1)
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
            try await PostgresCredentialStore(missing, name: "x").load()
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
        let store = PostgresCredentialStore(connection, name: "x")
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
            try await PostgresCredentialStore(wrong, name: "x").load()
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
    .timeLimit(.minutes(10))
)
struct PostgresRestartTests {
    @Test func `while a body runs, what it returns is written by the next update`() async throws {
        let database = try await TestDatabase()
        let store = database.store()
        try await store.update { _ in .replace(Credential(refreshToken: "RT1")) }
        await #expect(throws: CredentialStoreError.superseded) {
            try await store.update { _ in
                try TestDatabase.restartServer()
                return .replace(Credential(refreshToken: "RT2"))
            }
        }
        #expect(try await store.load()?.credential.refreshToken == "RT1")
        try await store.update { _ in .replace(Credential(refreshToken: "RT2")) }
        #expect(try await store.load()?.credential.refreshToken == "RT2")
    }
}
#endif
