import AccessTokenAdapters
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("One service per account", .eightAtATime, .timeLimit(.minutes(10)))
struct AccessTokenAccountsTests {
    /// Makes services, and counts how many for whom.
    private final class Workshop: Sendable {
        let made = Locked<[String: Int]>([:])
        let loader = ListLoader(.success(AccessToken(value: "A")))

        func actor(for account: String) -> AsyncAccessTokenService {
            made.withLock { $0[account, default: 0] += 1 }
            return AsyncAccessTokenService(loader: loader)
        }

        var counts: [String: Int] { made.withLock { $0 } }
    }

    /// A service whose first sign-out ends when the test says so.
    private final class SlowService: AsyncAccessTokenProviding {
        let (isUnderWay, mayEnd) = (Event(), Event())

        func token() async throws -> AccessToken { throw AccessTokenError.signedOut }
        func invalidate(_ rejected: AccessToken) {}

        func signOut() async {
            guard !isUnderWay.hasHappened else { return }
            isUnderWay.happen()
            await mayEnd.wait()
        }
    }

    private let workshop = Workshop()

    private func actors() -> AccessTokenAccounts<String, AsyncAccessTokenService> {
        AccessTokenAccounts { [workshop] account in workshop.actor(for: account) }
    }

    @Test func `a hundred callers of two accounts get two services`() async {
        let accounts = actors()
        let services = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for number in 0..<100 {
                group.addTask { ObjectIdentifier(accounts.service(for: number.isMultiple(of: 2) ? "a" : "b")) }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(services.count == 2)
        #expect(workshop.counts == ["a": 1, "b": 1])
        #expect(Set(accounts.accounts) == ["a", "b"])
    }

    @Test func `a sign-out ends one account's session, and the next service is a new one`() async throws {
        let accounts = actors()
        let (first, other) = (accounts.service(for: "a"), accounts.service(for: "b"))
        _ = try await (first.token(), other.token())
        await accounts.signOut("a")
        await #expect(throws: AccessTokenError.signedOut) { try await first.token() }
        #expect(other.currentToken != nil)
        #expect(accounts.accounts == ["b"])
        #expect(accounts.service(for: "a") !== first)
        #expect(workshop.loader.signOuts == 1)
    }

    @Test func `during a sign-out there is no second service, not even after another sign-out`() async {
        let accounts = AccessTokenAccounts<String, SlowService> { _ in SlowService() }
        let service = accounts.service(for: "a")
        let slow = Task { await accounts.signOut("a") }
        await service.isUnderWay.wait()
        #expect(accounts.service(for: "a") === service)
        await accounts.signOut("a")
        #expect(accounts.service(for: "a") === service)
        service.mayEnd.happen()
        await slow.value
        #expect(accounts.accounts.isEmpty)
    }

    @Test func `callback code has the same`() async {
        let loader = CallbackLoaderAdapter(of: workshop.loader)
        let accounts = AccessTokenAccounts<String, AccessTokenService> { _ in AccessTokenService(loader: loader) }
        let service = accounts.service(for: "a")
        let isSignedOut = Event()
        accounts.signOut("a", then: isSignedOut.happen)
        await isSignedOut.wait()
        #expect(accounts.service(for: "a") !== service)
    }
}
