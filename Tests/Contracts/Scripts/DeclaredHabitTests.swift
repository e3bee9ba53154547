import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import BuggyServices
import Foundation
import TestSupport
import Testing

/// The small service with a habit around it that some services have.
@Suite("A habit excuses what it is about, and nothing else", .takesTurnsToWait, .endsHangs)
struct DeclaredHabitTests {
    enum Habit: CaseIterable {
        /// A forced refresh that fails is answered with the old token.
        case failedRefreshKeepsToken
        /// Each refusal ends the session.
        case refusalEndsSession
        /// Each rejection starts a load, that of an old token too.
        case rejectionsLoad
        /// After five loads each caller is refused.
        case refusesAfterFiveLoads
        /// For half a minute the error of a load is the answer to all callers.
        case keepsFailures
        /// Only what a closure of the subject begins ends it: nothing has changed when it returns.
        case signOutOnlyBegins, signInOnlyBegins, rejectionOnlyBegins
    }

    static func subject(
        _ habit: Habit?,
        declaring features: ContractFeatures = [],
        loadLimit: Int? = nil
    ) -> ContractSubject {
        let all: ContractFeatures = [
            .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .loadDeadline, .currentToken,
            .callbackLoader,
            .forcedRefresh,
        ]
        return ContractSubject("a habit", features: all.union(features), loadLimit: loadLimit) { fixture in
            let loader = RefusalsLoader(fixture.loader)
            let service = BuggyService(
                token: nil,
                loader: loader,
                policy: fixture.policy,
                clock: fixture.clock,
                handlerQueue: fixture.handlerQueue,
                onEvent: { _ in },
                isRefusal: { ($0 as? ContractLoadError)?.kind == .permanent },
                bug: nil
            )
            if habit == .refusalEndsSession { loader.whenRefused { service.signOut {} } }
            let failure = Locked<(error: any Error, until: Date)?>(nil)
            let begun = Locked<[@Sendable () -> Void]>([])
            /// Does what has been asked for, or only begins it: then the next caller comes first.
            let perform = { @Sendable (onlyBegins: Bool, call: @escaping @Sendable () -> Void) in
                if onlyBegins { begun.withLock { $0.append(call) } } else { call() }
            }
            return .retrieving { handler in
                guard habit != .refusesAfterFiveLoads || fixture.loader.loads.count < 5 else {
                    return handler(.failure(AccessTokenError.loadTimedOut))
                }
                if let failure = failure.withLock({ $0 }), fixture.clock.now < failure.until,
                    service.currentToken == nil
                {
                    return handler(.failure(failure.error))
                }
                service.retrieveToken { result in
                    if habit == .keepsFailures, case .failure(let error as ContractLoadError) = result {
                        failure.withLock { $0 = (error, fixture.clock.now + 30) }
                    }
                    handler(result)
                }
                let calls = begun.withLock { calls in
                    defer { calls = [] }
                    return calls
                }
                for call in calls { call() }
            } refresh: { handler in
                service.refreshToken { result in
                    if habit == .failedRefreshKeepsToken, case .failure = result, let old = service.currentToken {
                        handler(.success(old))
                    } else {
                        handler(result)
                    }
                }
            } invalidate: { token in
                let isOld = service.currentToken != token
                perform(habit == .rejectionOnlyBegins) { service.invalidate(token) }
                if habit == .rejectionsLoad, isOld { service.refreshToken { _ in } }
            } signIn: { token in
                failure.withLock { $0 = nil }
                perform(habit == .signInOnlyBegins) { service.signIn(token) }
            } signOut: {
                perform(habit == .signOutOnlyBegins) { service.signOut {} }
            } currentToken: {
                service.currentToken
            }
        }
    }

    static let faults: [(habit: Habit, script: Script, clause: ClauseID)] = [
        (.failedRefreshKeepsToken, [.call, .answer(.token), .refresh, .answer(.failure)], "F1"),
        (
            .refusalEndsSession,
            Script(
                .deadline,
                [
                    .call, .pass(.elevenSeconds), .call, .answer(.token), .answer(.permanentFailure, from: .oldest),
                    .call,
                ]
            ), "T2"
        ),
        (
            .refusalEndsSession,
            Script(.ahead, [.call, .answer(.token), .pass(.freshness), .call, .answer(.permanentFailure), .call]), "C8"
        ),
        (.rejectionsLoad, [.call, .answer(.token), .refresh, .answer(.token), .reject(.former), .call], "I2"),
        (
            .refusesAfterFiveLoads,
            Script(.plain, Array(repeatElement([.call, .answer(.failure)] as [Step], count: 6).joined())), "F2"
        ),
        (.signOutOnlyBegins, [.call, .answer(.token), .callRightAfter(.signOut)], "O3"),
        (.signInOnlyBegins, [.call, .answer(.token), .callRightAfter(.signIn)], "O2"),
        (.signInOnlyBegins, [.signOut, .callRightAfter(.signIn)], "O6"),
        (.rejectionOnlyBegins, [.call, .answer(.token), .callRightAfter(.reject)], "I1"),
    ]

    @Test(arguments: faults.indices)
    func `that the subject does not declare is a fault, and none without the habit`(_ index: Int) async {
        let (habit, script, clause) = Self.faults[index]
        let violation = await script.play(on: Self.subject(habit))
        #expect(violation?.clause.id == clause, "\(habit): \(violation.map { "\($0)" } ?? "kept")")
        let accusation = await script.play(on: Self.subject(nil))
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    static let declared: [(subject: ContractSubject, faults: [Int])] = [
        (subject(.failedRefreshKeepsToken, declaring: .failedRefreshKeepsToken), [0]),
        (subject(.refusalEndsSession, declaring: .refusalEndsSession), [2]),
        (subject(.refusesAfterFiveLoads, loadLimit: 5), [4]),
    ]

    @Test(arguments: declared.indices)
    func `that the subject declares is none`(_ index: Int) async {
        let (subject, faults) = Self.declared[index]
        for fault in faults {
            let accusation = await Self.faults[fault].script.play(on: subject)
            #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
        }
    }

    @Test func `that the subject declares is none to a clause`() async {
        let report = await Self.subject(.keepsFailures, loadLimit: 1).report()
        #expect(report.isKept, "\(report)")
        let undeclared = await Self.subject(.keepsFailures).report(on: "L1", "F2", "S3", "D7", "T1")
        #expect(undeclared.brokenIDs == ["F2"], "\(undeclared)")
    }

    @Test func `that the subject declares does not excuse a late refusal beside a newer token`() async {
        let subject = Self.subject(.refusalEndsSession, declaring: .refusalEndsSession)
        #expect(await Self.faults[1].script.play(on: subject)?.clause.id == "T2")
    }
}

/// Tells of each load that is refused for good, when its answer has been passed on.
private final class RefusalsLoader: AccessTokenLoader {
    private let base: ControlledLoader
    private let isRefused = Locked<(@Sendable () -> Void)?>(nil)

    init(_ base: ControlledLoader) { self.base = base }

    func whenRefused(_ body: @escaping @Sendable () -> Void) { isRefused.withLock { $0 = body } }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        base.load(replacing: old) { [self] result in
            handler(result)
            guard case .failure(let error as ContractLoadError) = result, error.kind == .permanent else { return }
            isRefused.withLock { $0 }?()
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }
}
