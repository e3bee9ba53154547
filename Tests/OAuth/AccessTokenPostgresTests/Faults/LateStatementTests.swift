#if Postgres
import AccessTokenCore
import AccessTokenPostgres
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

/// Statements without an answer: they arrive late, or nobody hears what came of them.
@Suite("Statements whose client waits no longer", .takesTurns, .needsPostgres, .endsHangs)
struct LateStatementTests {
    private let database: TestDatabase
    private let user = "user"

    init() async throws { database = try await TestDatabase() }

    private func stores(by proxy: DatabaseProxy) -> PostgresCredentialStores {
        PostgresCredentialStores(proxy.connectionString(database.connectionString), connections: 2)
    }

    /// Holds the first ones of a statement back, for so many seconds longer than the client waits for its answer.
    private func hold(_ count: Int, _ part: String, for seconds: TimeInterval, by proxy: DatabaseProxy) {
        let watch = StatementWatch(part)
        let held = Locked(0)
        proxy.onClient { data in
            guard watch.sees(data),
                held.withLock({ held in
                    held += 1
                    return held <= count
                })
            else { return .pass }
            Thread.sleep(forTimeInterval: PostgresConnection.usualDeadline + seconds)
            return .pass
        }
    }

    /// After two that were late, the update has failed.
    @Test(arguments: [1, 2])
    func `an entry that arrives late is left again`(count late: Int) async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let store = stores(by: proxy).store(for: user)
        // There is a row to be entered.
        try await database.stores().store(for: user).update { _ in .keep }
        // After the update has failed, the row is left after 1, 2, 4 and 8 seconds. They arrive after 1.5 and 6.5.
        hold(late, "SET holder = $2", for: 6.5, by: proxy)
        // It is carried out by its second attempt, if at all.
        do {
            try await store.update { _ in .keep }
            #expect(late == 1)
        } catch {
            #expect(late == 2)
        }
        var (arrivals, wasHeld) = (0, false)
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end, arrivals < late || wasHeld {
            let isHeld = try await !database.run("SELECT 1 FROM access_token_credentials WHERE holder IS NOT NULL")
                .isEmpty
            if isHeld, !wasHeld { arrivals += 1 }
            wasHeld = isHeld
            try await Task.sleep(for: .seconds(0.1))
        }
        // One may arrive and be left between two looks.
        #expect(arrivals > 0, "nothing arrived late")
        #expect(!wasHeld)
    }

    @Test func `a note that arrives late is withdrawn, and its refresh token is not sent`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let server = StrictServer { _ in }
        let (direct, store) = (database.stores().store(for: user), stores(by: proxy).store(for: user))
        try await direct.update { _ in .replace(server.signIn(user)) }
        // After that has failed, the note is looked for after 1, 3 and 7 seconds. It arrives after 2.
        hold(2, "SET version = $3", for: 7, by: proxy)
        await #expect(throws: CredentialStoreError.self) {
            try await OAuthLoader(server.exchange(deadline: 60), store: store).load(replacing: nil)
        }
        #expect(server.sends(of: "user/1") == 0)
        for isThere in [true, false] {
            let end = ContinuousClock.now + .seconds(20)
            while try await (direct.load()?.credential.sentNote != nil) != isThere {
                try #require(ContinuousClock.now < end, isThere ? "nothing arrived late" : "the note is still there")
                try await Task.sleep(for: .seconds(0.1))
            }
        }
    }

    @Test func `a note whose writing brought no answer is withdrawn, and nobody waits for its sender`() async throws {
        let (proxy, other) = (try DatabaseProxy.toServer(), try DatabaseProxy.toServer())
        defer { for proxy in [proxy, other] { proxy.stop() } }
        let server = StrictServer { _ in }
        let exchange = server.exchange(deadline: 8)
        let store = stores(by: proxy).store(for: user)
        let writing = StatementWatch("SET version = $3")
        let losses = Locked((left: 0, isNext: false))
        proxy.onClient { data in
            if writing.sees(data) { losses.withLock { $0.isNext = true } }
            return .pass
        }
        proxy.onDatabase { data in
            losses.withLock { losses in
                guard losses.isNext, losses.left > 0, data.range(of: Data("UPDATE ".utf8)) != nil else { return .pass }
                losses = (losses.left - 1, false)
                return .cut
            }
        }
        try await store.update { _ in .replace(server.signIn(user)) }
        // Both attempts: the first one is carried out.
        losses.withLock { $0 = (2, false) }
        await #expect(throws: CredentialStoreError.self) {
            try await OAuthLoader(exchange, store: store).load(replacing: nil)
        }
        #expect(losses.withLock { $0.left } == 0 && server.sends(of: "user/1") == 0)
        let second = OAuthLoader(exchange, store: stores(by: other).store(for: user))
        #expect(try await second.load(replacing: nil).value == "A/user/2")
    }
}
#endif
