import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import BuggyServices
import Foundation
import TestSupport
import Testing

/// What right services do, and clauses once accused them for.
@Suite("No clause accuses a service", .takesTurnsToWait, .endsHangs)
struct RightServiceTests {
    private static let features: ContractFeatures = [
        .expiry, .invalidation, .signOut, .signIn, .loadDeadline, .callbackLoader, .forcedRefresh, .currentToken,
    ]

    private static func subject(
        _ name: String,
        make: @escaping @Sendable (ContractFixture) -> BuggyService
    ) -> ContractSubject {
        ContractSubject(name, features: features) { fixture in
            let service = make(fixture)
            return .callback(
                service,
                refresh: { service.refreshToken(then: $0) },
                signIn: { service.signIn($0) },
                currentToken: { service.currentToken }
            )
        }
    }

    @Test func `that lets the load of a new session wait until the load of the former session has ended`() async {
        let subject = Self.subject("two loads never overlap") { fixture in
            BuggyService(
                loader: OneByOneLoader(fixture),
                policy: fixture.policy,
                clock: fixture.clock,
                handlerQueue: fixture.handlerQueue,
                bug: nil
            )
        }
        let report = await subject.report()
        #expect(report.isKept, "\(report)")
        let accusation = await ([.call, .signOut, .signIn(.valid), .refresh] as Script).play(on: subject)
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    @Test func `that recognises its loader, and begins a load when it is made`() async {
        let preload: @Sendable (AccessTokenService) -> Void = { $0.retrieveToken { _ in } }
        let subject = ContractSubject("preloads", features: .loaderRecognition) { fixture in
            let service = AccessTokenService(loader: fixture.loader)
            preload(service)
            _ = await fixture.loader.started(1)
            return .callback(service)
        }
        let report = await subject.report(on: "L1", "R1", "R2")
        #expect(report.isKept, "\(report)")
    }

    @Test func `that has a timer which fires every 30 seconds`() async {
        let subject = Self.subject("has a heartbeat") { fixture in
            Heart(fixture.clock).beat()
            return BuggyService(for: fixture, bug: nil)
        }
        let report = await subject.report()
        #expect(report.isKept, "\(report)")
        let accusation = await ([.call, .answer(.endlessToken), .pass(.life), .call] as Script).play(on: subject)
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }
}

/// Begins no load before the one ahead of it has ended, or has passed its deadline.
private final class OneByOneLoader: AccessTokenLoader {
    private struct State {
        var isLoading = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let base: ControlledLoader
    private let clock: ManualClock
    private let deadline: TimeInterval?
    private let state = Locked(State())

    init(_ fixture: ContractFixture) {
        (base, clock, deadline) = (fixture.loader, fixture.clock, fixture.policy.loadDeadline)
    }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let begin = { @Sendable [self] in
            let hasEnded = Locked(false)
            let end = { @Sendable [self] in
                let isFirst = hasEnded.withLock { hasEnded in
                    defer { hasEnded = true }
                    return !hasEnded
                }
                if isFirst { next() }
            }
            let timer = deadline.map { clock.schedule(after: $0, end) }
            base.load(replacing: old) { result in
                timer?.cancel()
                handler(result)
                end()
            }
        }
        let isFree = state.withLock { state in
            defer { state.isLoading = true }
            if state.isLoading { state.waiting.append(begin) }
            return !state.isLoading
        }
        if isFree { begin() }
    }

    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }

    private func next() {
        let begin = state.withLock { state -> (@Sendable () -> Void)? in
            state.isLoading = !state.waiting.isEmpty
            return state.isLoading ? state.waiting.removeFirst() : nil
        }
        begin?()
    }
}

/// Does something every 30 seconds, and for ever.
private final class Heart: Sendable {
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func beat() {
        _ = clock.schedule(after: 30) { self.beat() }
    }
}
