import AccessTokenOAuth
import Foundation
import Testing

@Suite("What the page on servers says of many users")
struct ManyUsersTests {
    private let users: Users

    init() throws {
        let accounts = ManyUsers.accounts(
            tokenURL: try #require(URL(string: "https://as.example/token")),
            secret: "secret"
        ) { user in
            let token = AccessToken(value: "token-of-\(user)", expiration: .distantFuture)
            return MemoryCredentialStore(Credential(accessToken: token, refreshToken: "refresh"))
        }
        users = Users(accounts: accounts, server: FriendsServer())
    }

    @Test func `each user has a service of their own`() async throws {
        #expect(try await users.friends(of: "alice") == ["a friend, for token-of-alice"])
        #expect(try await users.friends(of: "bob") == ["a friend, for token-of-bob"])
        #expect(users.active.sorted() == ["alice", "bob"])
    }

    @Test func `a user who signs out has no service any more`() async throws {
        _ = try await users.friends(of: "alice")
        await users.signOut("alice")
        #expect(users.active == [])
    }

    @Test func `each user has a folder of their own, whatever the name, and one store object`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("users-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let names = [
            "", ".", "..", "/", "../alice", "alice", "Alice", "é", "e\u{301}", String(repeating: "a", count: 125),
        ]
        let stores = UserStores(in: folder)
        for (number, name) in names.enumerated() {
            #expect(try await stores.store(for: name).load() == nil)
            _ = try await stores.store(for: name).update { _ in .replace(Credential(refreshToken: "\(number)")) }
            #expect(stores.store(for: name) === stores.store(for: name))
        }
        for (number, name) in names.enumerated() {
            let record = try await UserStores(in: folder).store(for: name).load()
            #expect(record?.credential.refreshToken == "\(number)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names.count)
    }

    @Test func `no load of a user has a deadline, since it may wait its turn`() throws {
        let page = try Repository.text(of: "Sources/OAuth/AccessTokenOAuth/AccessTokenOAuth.docc/OnAServer.md")
        let benchmark = try Repository.text(of: "Sources/Programs/Benchmarks/Accounts/AccountRow.swift")
        let policy = "AccessTokenPolicy(loadDeadline: nil)"
        #expect(page.contains(policy), "the listing")
        #expect(benchmark.contains(policy), "what the table was measured with")
    }
}
