#if Postgres
import AccessTokenCore
import AccessTokenPostgres
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

/// What happens to processes behind a proxy that cuts, swallows, holds back and refuses, at a strict server.
///
/// Each `PostgresCredentialStores` is a process here: it has its own number, connections and memory.
@Suite("Processes whose way to PostgreSQL fails", .takesTurns, .needsPostgres, .endsHangs)
struct PostgresFaultTests {
    private static let delay: TimeInterval = 6

    private let database: TestDatabase
    private let user = "user"

    init() async throws { database = try await TestDatabase() }

    private func proxy() throws -> DatabaseProxy { try .toServer() }

    private func stores(by proxy: DatabaseProxy, connections: Int = 2) -> PostgresCredentialStores {
        PostgresCredentialStores(
            proxy.connectionString(database.connectionString),
            connections: connections,
            takeOverDelay: Self.delay
        )
    }

    /// A load that has sent the user's refresh token, and whose reply waits for an event.
    private struct Sender {
        let server: StrictServer
        let proxy: DatabaseProxy
        let mayReply: Event
        let load: Task<AccessToken, any Error>
        var sends: Int { server.sends(of: "user/1") }
    }

    private func sender() async throws -> Sender {
        let (isSent, mayReply) = (Event(), Event())
        let server = StrictServer { refreshToken in
            guard refreshToken == "user/1" else { return }
            isSent.happen()
            await mayReply.wait()
        }
        let proxy = try proxy()
        let store = stores(by: proxy).store(for: user)
        try await store.update { _ in .replace(server.signIn(user)) }
        let load = Task { try await OAuthLoader(server.exchange(deadline: 60), store: store).load(replacing: nil) }
        await isSent.wait()
        return Sender(server: server, proxy: proxy, mayReply: mayReply, load: load)
    }

    private func load(_ server: StrictServer, by proxy: DatabaseProxy) -> Task<AccessToken, any Error> {
        let store = stores(by: proxy).store(for: user)
        return Task { try await OAuthLoader(server.exchange(deadline: 60), store: store).load(replacing: nil) }
    }

    /// Waits for longer than a process that nobody sees has to wait.
    private func passDelay() async throws { try await Task.sleep(for: .seconds(Self.delay + 3)) }

    // MARK: 1, 3: the sender is cut off

    enum Second: CaseIterable {
        case nothing, lostReply, cutTwice
    }

    @Test(arguments: Second.allCases)
    func `a sender that is back at once is waited for, whatever happens to who took its row`(
        _ second: Second
    ) async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        let isCut = Locked(false)
        let losses = Locked(second == .lostReply ? 1 : 0)
        other.onDatabase { data in
            guard isCut.withLock({ $0 }), data.range(of: Data("UPDATE 1".utf8)) != nil else { return .pass }
            sender.proxy.refuse(false)
            return losses.withLock { left in
                left -= 1
                return left >= 0
            } ? .cut : .pass
        }
        let waiting = load(sender.server, by: other)
        try await Task.sleep(for: .seconds(0.5))
        isCut.withLock { $0 = true }
        // The sender is not back before the other one has the row.
        sender.proxy.refuse(true)
        sender.proxy.cut()
        if second == .cutTwice {
            try await Task.sleep(for: .seconds(2))
            other.cut()
            sender.proxy.cut()
        }
        try await passDelay()
        #expect(losses.withLock { $0 } < (second == .lostReply ? 1 : 0), "nobody took the row")
        #expect(sender.sends == 1)
        sender.mayReply.happen()
        #expect(try await sender.load.value.value == waiting.value.value)
        #expect(sender.server.lostSessions.isEmpty)
    }

    @Test func `a process that took the row and is gone for good leaves the sender its claim`() async throws {
        let sender = try await sender()
        let (other, third) = (try proxy(), try proxy())
        defer { for proxy in [sender.proxy, other, third] { proxy.stop() } }
        let mayDie = Locked(false)
        // Its statement is carried out, and it never hears of it, nor of anything else.
        other.onDatabase { data in
            guard mayDie.withLock({ $0 }), data.range(of: Data("UPDATE 1".utf8)) != nil else { return .pass }
            other.refuse(true)
            sender.proxy.refuse(false)
            return .cut
        }
        let dead = load(sender.server, by: other)
        let waiting = load(sender.server, by: third)
        try await Task.sleep(for: .seconds(0.5))
        mayDie.withLock { $0 = true }
        sender.proxy.refuse(true)
        sender.proxy.cut()
        try await passDelay()
        #expect(other.refused > 0, "it did not take the row")
        #expect(sender.sends == 1)
        sender.mayReply.happen()
        #expect(try await sender.load.value.value == waiting.value.value)
        _ = await dead.result
        #expect(sender.server.lostSessions.isEmpty)
    }

    // MARK: 2: a reply that is saved while another process looks

    @Test func `nobody waits beside a valid token`() async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        let isInside = Event()
        let isCut = Locked(false)
        other.onDatabase { data in
            if isCut.withLock({ $0 }), data.range(of: Data("UPDATE 1".utf8)) != nil {
                sender.proxy.refuse(false)
                isInside.happen()
            }
            return .pass
        }
        let leaving = StatementWatch("SET holder = NULL")
        other.onClient { data in
            // The other one leaves the row three seconds late.
            guard leaving.sees(data), isInside.hasHappened else { return .pass }
            sender.mayReply.happen()
            Thread.sleep(forTimeInterval: 3)
            return .pass
        }
        let waiting = load(sender.server, by: other)
        try await Task.sleep(for: .seconds(0.5))
        isCut.withLock { $0 = true }
        // It is not back before the other one is inside.
        sender.proxy.refuse(true)
        sender.proxy.cut()
        let token = try await sender.load.value.value
        #expect(try await waiting.value.value == token)
        let start = ContinuousClock.now
        #expect(try await load(sender.server, by: other).value.value == token)
        #expect(start.duration(to: .now) < .seconds(20))
        #expect(try await heldRows() == 0)
    }

    // MARK: 4: silence, and a way back that is long

    @Test func `a primary that falls silent costs nothing`() async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        let waiting = load(sender.server, by: other)
        try await Task.sleep(for: .seconds(0.5))
        sender.proxy.fallSilent()
        try await passDelay()
        #expect(sender.sends == 1)
        sender.mayReply.happen()
        #expect(try await sender.load.value.value == waiting.value.value)
    }

    @Test func `a process that is cut off for less than the delay is waited for`() async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        let waiting = load(sender.server, by: other)
        try await Task.sleep(for: .seconds(0.5))
        sender.proxy.refuse(true)
        sender.proxy.cut()
        try await Task.sleep(for: .seconds(Self.delay - 3))
        sender.proxy.refuse(false)
        try await passDelay()
        #expect(sender.sends == 1)
        sender.mayReply.happen()
        #expect(try await sender.load.value.value == waiting.value.value)
    }

    @Test func `a process that is gone for the delay is taken for dead`() async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        sender.proxy.refuse(true)
        sender.proxy.cut()
        _ = await load(sender.server, by: other).result
        #expect(sender.sends == 2)
        sender.mayReply.happen()
        _ = await sender.load.result
    }

    // MARK: 5: the clock of the database

    @Test func `a clock that jumps lets nobody send`() async throws {
        let sender = try await sender()
        let other = try proxy()
        defer { for proxy in [sender.proxy, other] { proxy.stop() } }
        let jump = "UPDATE access_token_credentials SET written = written - interval '1 hour' WHERE name = $1"
        try await database.run(jump, [user])
        let waiting = load(sender.server, by: other)
        sender.proxy.cut()
        try await passDelay()
        #expect(sender.sends == 1)
        sender.mayReply.happen()
        #expect(try await sender.load.value.value == waiting.value.value)
    }

    // MARK: 7: names

    @Test func `names are told apart by their bytes`() async throws {
        let stores = database.stores()
        let names = ["ren\u{E9}", "rene\u{301}"]
        #expect(names[0] == names[1])
        let server = StrictServer { _ in }
        let exchange = server.exchange(deadline: 60)
        let accounts = AccessTokenAccounts<String, AsyncAccessTokenService> { name in
            AsyncAccessTokenService(loader: OAuthLoader(exchange, store: stores.store(for: name)))
        }
        for (number, name) in names.enumerated() {
            try await stores.store(for: name).update { _ in .replace(server.signIn("user\(number)")) }
        }
        async let first = accounts.service(for: names[0]).token()
        async let second = accounts.service(for: names[1]).token()
        #expect(try await [first.value, second.value] == ["A/user0/2", "A/user1/2"])
        #expect(try await stores.accounts().map(\.name.utf8.count).sorted() == [5, 6])
    }

    private func heldRows() async throws -> Int {
        try await database.run("SELECT 1 FROM access_token_credentials WHERE holder IS NOT NULL").count
    }
}
#endif
