#if Postgres
import AccessTokenContract
import AccessTokenCore
import AccessTokenPostgres
import AccessTokenSynchronization
import ContractHarness
import CredentialStoreContract
import Foundation
import LoopbackAuthorizationServer
import Synchronization
import TestSupport
import Testing

/// Keeps a user's credential for loaders, and its tokens in the four columns that the rest of the server reads.
final class FourColumnStore: CredentialStore {
    private let side: any CredentialStore
    private let user: String
    private let run: @Sendable (_ statement: String, _ values: [String?]) async throws -> Void
    /// Whether a session has ended whose columns may be there still: a statement may fail, and is run by the next update.
    private let owesRemoval = Mutex(false)

    /// - Parameters:
    ///   - side: the user's store in the side table, by the same name.
    ///   - run: runs a statement, by the client of PostgreSQL that the server has.
    init(
        _ user: String,
        side: any CredentialStore,
        run: @escaping @Sendable (_ statement: String, _ values: [String?]) async throws -> Void
    ) {
        (self.user, self.side, self.run) = (user, side, run)
    }

    var takeOverDelay: TimeInterval { side.takeOverDelay }

    func load() async throws -> CredentialRecord? { try await side.load() }

    @discardableResult
    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let record = try await side.update { record in
            let change = try await body(record)
            if case .remove = change { self.owesRemoval.withLock { $0 = true } }
            return change
        }
        guard let record else {
            // Not for a load that finds nothing: the user may not have been taken over yet.
            guard owesRemoval.withLock({ $0 }) else { return nil }
            try await run(Self.removing, [user])
            owesRemoval.withLock { $0 = false }
            return nil
        }
        // Also where nothing has changed: a process may have died between the two statements.
        let (credential, token) = (record.credential, record.credential.accessToken)
        let seconds = token?.expiration.map { "\($0.timeIntervalSince1970)" }
        try await run(
            Self.writing,
            [user, "\(record.version)", token?.value, credential.refreshToken, seconds]
        )
        owesRemoval.withLock { $0 = false }
        return record
    }

    /// Only while the side table has that version: another process may have written since.
    private static let writing = """
        WITH side AS (
            SELECT FROM access_token_credentials WHERE name = $1 AND version = $2::text::bigint FOR SHARE
        )
        INSERT INTO oauth_tokens (user_id, access_token, refresh_token, expires_at)
        SELECT $1, $3::text, $4::text, to_timestamp($5::text::double precision) FROM side
        ON CONFLICT (user_id) DO UPDATE SET access_token = excluded.access_token,
            refresh_token = excluded.refresh_token, expires_at = excluded.expires_at
        """
    /// Only while no user is signed in there.
    private static let removing = """
        WITH side AS (
            SELECT FROM access_token_credentials WHERE name = $1 AND record IS NULL FOR SHARE
        )
        DELETE FROM oauth_tokens WHERE user_id = $1 AND EXISTS (SELECT FROM side)
        """
}

@Suite("The four columns of the page “On a server”", .takesTurns, .needsPostgres, .endsHangs)
struct FourColumnsTests {
    private let first = Credential(refreshToken: "RT1")
    private let second = Credential(
        accessToken: AccessToken(value: "A2", expiration: Date(timeIntervalSince1970: 2_000_000_000)),
        refreshToken: "RT2"
    )
    private let database: TestDatabase

    init() async throws {
        database = try await TestDatabase()
        try await database.run(
            """
            CREATE TABLE oauth_tokens (
                user_id text PRIMARY KEY, access_token text, refresh_token text, expires_at timestamptz
            )
            """
        )
    }

    /// The store of a user, as another process would open it, with a hook before each statement of its own.
    private func store(
        _ user: String = "alice",
        side: (any CredentialStore)? = nil,
        before: @escaping @Sendable () async throws -> Void = {}
    ) -> FourColumnStore {
        let database = database
        return FourColumnStore(user, side: side ?? database.stores().store(for: user)) { statement, values in
            try await before()
            try await database.connection().run(statement, values.map { $0.map { Data($0.utf8) } })
        }
    }

    private func columns(_ user: String = "alice") async throws -> [[String?]] {
        let columns = "access_token, refresh_token, extract(epoch FROM expires_at)::bigint::text"
        return try await database.run("SELECT \(columns) FROM oauth_tokens WHERE user_id = $1", [user])
            .map { row in row.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
    }

    private func report(of clauses: [StoreClause], clock: any AccessTokenClock) async -> ContractReport {
        let database = database
        let subject = StoreSubject(
            "four columns with a side table",
            features: [.openings, .waitLimit],
            promises: ["X2"]
        ) { fixture in
            let connection = database.connectionString(as: fixture.name)
            let stores = PostgresCredentialStores(connection, waitLimit: fixture.waitLimit, clock: clock)
            return store(fixture.name, side: stores.store(for: fixture.name))
        } loseExclusion: { fixture in
            try await database.terminate(fixture.name)
        }
        return await StoreContract.verify(subject, clauses: clauses, timeLimit: 30)
    }

    @Test func `keeps the contract for stores, and nothing is skipped`() async throws {
        let isLoss: (StoreClause) -> Bool = { $0.id == "L1" }
        // By a manual clock, a process whose connections are cut is not seen to live again.
        for report in [
            await report(of: StoreContract.clauses.filter { !isLoss($0) }, clock: SystemClock()),
            await report(of: StoreContract.clauses.filter(isLoss), clock: ManualClock()),
        ] {
            #expect(report.isKept, "\(report)")
            #expect(report.rows.count { if case .skipped = $0.outcome { true } else { false } } == 0)
        }
    }

    @Test func `has in its columns what loaders have, until a sign-out`() async throws {
        let (server, store) = (try RotatingAuthorizationServer(), store())
        defer { server.stop() }
        let loader = OAuthLoader(endpoint: endpoint(server), store: store)
        try await loader.signIn(Credential(refreshToken: server.signIn().refreshToken))
        let token = try await loader.load(replacing: nil)
        let credential = try #require(try await store.load()?.credential)
        let seconds = token.expiration.map { "\(Int($0.timeIntervalSince1970.rounded()))" }
        #expect(try await columns() == [[token.value, credential.refreshToken, seconds]])
        await loader.signOut()
        #expect(try await columns().isEmpty)
    }

    private func endpoint(_ server: RotatingAuthorizationServer) -> TokenEndpoint {
        TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID),
            deadline: 3600
        )
    }

    @Test(arguments: [true, false])
    func `a process that is late brings back neither an old token nor a session that has ended`(
        endsSession: Bool
    ) async throws {
        let (isLate, mayGoOn) = (Event(), Event())
        let late = store {
            isLate.happen()
            await mayGoOn.wait()
        }
        let first = first
        let writing = Task { try await late.update { _ in .replace(first) } }
        await isLate.wait()
        try await store().update { _ in endsSession ? .remove : .replace(second) }
        mayGoOn.happen()
        _ = try await writing.value
        #expect(try await columns() == (endsSession ? [] : [["A2", "RT2", "2000000000"]]))
    }

    @Test func `the next update mends what a process has left behind that died between its statements`() async throws {
        try await database.stores().store(for: "alice").update { _ in .replace(second) }
        #expect(try await columns().isEmpty)
        try await store().update { _ in .keep }
        #expect(try await columns() == [["A2", "RT2", "2000000000"]])
    }

    @Test func `a sign-out whose second statement fails runs it again`() async throws {
        struct IsCut: Error {}
        let fails = Mutex(false)
        let store = store {
            let isCut = fails.withLock { fails in
                defer { fails = false }
                return fails
            }
            if isCut { throw IsCut() }
        }
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let loader = OAuthLoader(endpoint: endpoint(server), store: store)
        try await loader.signIn(first)
        try #require(try await columns().first?[1] == "RT1")
        fails.withLock { $0 = true }
        await loader.signOut()
        #expect(fails.withLock { !$0 })
        #expect(try await columns().isEmpty)
    }

    @Test func `takes a user over whose tokens are in the columns, and leaves nothing of them after a sign-out`()
        async throws
    {
        try await database.run("INSERT INTO oauth_tokens VALUES ('alice', 'A0', 'RT1', now())")
        let (store, first) = (store(), first)
        // A load that comes before, and finds nothing.
        try await store.update { _ in .keep }
        try #require(try await columns().first?[1] == "RT1")
        try await store.update { $0 == nil ? .replace(first) : .keep }
        #expect(try await columns() == [[nil, "RT1", nil]])
        try await store.update { _ in .remove }
        #expect(try await columns().isEmpty)
    }
}
#endif
