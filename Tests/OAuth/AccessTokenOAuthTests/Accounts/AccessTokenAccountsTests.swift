import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("One service per account", .takesTurns, .endsHangs)
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

    /// The load of account "a" ends when the test says so.
    private struct HeldLoader: AsyncAccessTokenLoader {
        let isAsked, mayAnswer: Event
        let account: String

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            if account == "a" {
                isAsked.happen()
                await mayAnswer.wait()
            }
            return AccessToken(value: account)
        }

        func signOut() async {}
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

    // MARK: Letting go

    @Test func `a service that nobody uses is let go, and made anew at the next call`() {
        let clock = ManualClock()
        let accounts = AccessTokenAccounts(idleLimit: 60, clock: clock) { [workshop] in workshop.actor(for: $0) }
        // They have not loaded: the task of a load that has ended still has its service for a moment.
        _ = (accounts.service(for: "a"), accounts.service(for: "b"))
        clock.advance(by: 30)
        _ = accounts.service(for: "b")
        clock.advance(by: 30)
        #expect(Set(accounts.accounts) == ["a", "b"])
        clock.advance(by: 30)
        #expect(accounts.accounts == ["b"])
        _ = accounts.service(for: "a")
        #expect(workshop.counts == ["a": 2, "b": 1])
        for _ in 1...3 { clock.advance(by: 30) }
        #expect(accounts.accounts.isEmpty)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a look for the service of an account makes none, and keeps none`() {
        let clock = ManualClock()
        let accounts = AccessTokenAccounts(idleLimit: 60, clock: clock) { [workshop] in workshop.actor(for: $0) }
        #expect(accounts.existingService(for: "a") == nil)
        #expect(workshop.counts.isEmpty && accounts.accounts.isEmpty)
        let service = ObjectIdentifier(accounts.service(for: "a"))
        for _ in 1...3 {
            #expect(accounts.existingService(for: "a").map { ObjectIdentifier($0) } == service)
            clock.advance(by: 30)
        }
        #expect(accounts.existingService(for: "a") == nil)
        #expect(workshop.counts == ["a": 1])
    }

    @Test func `a service that loads, or that somebody has, is the account's own for as long`() async throws {
        let (clock, isAsked, mayAnswer) = (ManualClock(), Event(), Event())
        let accounts = AccessTokenAccounts<String, AsyncAccessTokenService>(idleLimit: 60, clock: clock) { account in
            AsyncAccessTokenService(loader: HeldLoader(isAsked: isAsked, mayAnswer: mayAnswer, account: account))
        }
        let kept = accounts.service(for: "kept")
        let call = Task { try await accounts.service(for: "a").token() }
        await isAsked.wait()
        clock.advance(by: 30)
        clock.advance(by: 30)
        clock.advance(by: 30)
        #expect(Set(accounts.accounts) == ["kept", "a"])
        #expect(accounts.service(for: "kept") === kept)
        let second = Task { try await accounts.service(for: "a").token() }
        mayAnswer.happen()
        #expect(try await (call.value.value, second.value.value) == ("a", "a"))
    }

    @Test func `beyond so many services those go that were not used for the longest time`() async {
        let accounts = AccessTokenAccounts(idleLimit: 60, most: 20, clock: ManualClock()) { [workshop] in
            workshop.actor(for: $0)
        }
        for number in 1...20 { _ = accounts.service(for: "\(number)") }
        _ = accounts.service(for: "1")
        #expect(accounts.accounts.count == 20)
        _ = accounts.service(for: "21")
        let latest = Set((4...21).map { "\($0)" })
        #expect(Set(accounts.accounts) == latest.union(["1"]))
    }

    @Test func `services that live on do not have others let go in their place, and leave the lock to be released`() {
        final class Session: Sendable {}
        var table = AccountTable<Int, Session> { session in { [weak session] in session } }
        var kept = (1...21).map { number in table.service(for: number) { _ in Session() } }
        #expect(Set(table.letGoBeyond(20).map(ObjectIdentifier.init)) == Set(kept[...1].map(ObjectIdentifier.init)))
        #expect(table.letGoBeyond(20).isEmpty)
        #expect(table.forgetReleased().count == 2)
        #expect(table.use(1) === kept[0])
        #expect(table.letGoBeyond(20).isEmpty)
        kept.removeAll()
        #expect(table.forgetReleased().isEmpty)
        #expect(Set(table.services.map(\.account)) == Set([1] + (3...21)))
    }

    @Test func `a service that signs out is not let go, and goes when the last sign-out has ended`() {
        final class Session: Sendable {}
        var table = AccountTable<String, Session> { session in { [weak session] in session } }
        for _ in 1...2 { _ = table.beginSignOut("a") { _ in Session() } }
        let first = table.use("a").map(ObjectIdentifier.init)
        _ = table.service(for: "b") { _ in Session() }
        for _ in 1...3 { _ = table.letGoIdle() }
        #expect(table.letGoBeyond(1).isEmpty && table.forgetReleased().isEmpty)
        #expect(table.services.map(\.account) == ["a"])
        #expect(table.endSignOut("a") == nil)
        #expect(table.use("a").map(ObjectIdentifier.init) == first)
        #expect(table.endSignOut("a").map(ObjectIdentifier.init) == first)
        #expect(table.services.isEmpty)
    }

    @Test func `those that come back or sign out are counted, and the only one that can go stays`() {
        final class Session: Sendable {}
        var table = AccountTable<Int, Session> { session in { [weak session] in session } }
        let first = table.service(for: 1) { _ in Session() }
        _ = table.service(for: 2) { _ in Session() }
        #expect(table.letGoBeyond(1).map(ObjectIdentifier.init) == [ObjectIdentifier(first)])
        #expect(table.use(1) === first)
        #expect(table.letGoBeyond(1).count == 1)
        _ = table.beginSignOut(1) { _ in Session() }
        _ = table.service(for: 3) { _ in Session() }
        #expect(table.letGoBeyond(1).isEmpty)
        _ = table.endSignOut(1)
        _ = table.service(for: 4) { _ in Session() }
        #expect(table.letGoBeyond(2).isEmpty)
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
