import AccessTokenSynchronization
import BuggyServices
import Foundation
import TestSupport
import Testing

@testable import AccessTokenContract

/// Services with a fault of their own, behind which another one stands.
@Suite("A known fault hides no other", .takesTurnsToWait, .endsHangs)
struct LeftOutSituationTests {
    @Test func `a situation that a known fault spoils is left out, and the others judge the clause`() async throws {
        let report = await PlantedBugTests.smallSubject(bug: .ignoresExpiration).report(on: "L1", "C6", "S1", "C11")
        #expect(report.brokenIDs == ["C6"], "\(report)")
        #expect(report.notJudgedIDs == [], "\(report)")
        // Callers get the expired token, on threads in each of three tries; one service is made with such a token.
        #expect(report.leftOut.map(\.clause.id) == ["C11", "C11", "S1", "S1", "S1", "S1"], "\(report)")
        #expect(report.leftOut.allSatisfy { $0.brokenID == "C6" })
        let lines = """
            not judged in C11 until C6 is mended: the token that the service is made with has expired; the token that \
            the service is made with expires later
            not judged in S1 until C6 is mended: callers come one after the other, and find an expired token; callers \
            come on eight threads at once, and find an expired token

            """
        #expect("\(report)".contains("\n" + lines), "\(report)")
        for line in lines.split(separator: "\n") {
            #expect(report.junitXML.contains("<system-out>\(line)</system-out></testcase>"), "\(report.junitXML)")
        }
        let last = try #require(report.leftOut.last)
        let situation = "callers come on eight threads at once, and find an expired token"
        #expect(last.situation == situation)
        #expect("\(last)".hasPrefix("S1 where \(situation), after: caller"), "\(last)")
        #expect("\(last)".hasSuffix("gets expired T: mend C6 first"), "\(last)")
    }

    @Test func `a clause of which no situation is left is not judged`() async {
        let report = await PlantedBugTests.smallSubject(bug: .ignoresExpiration).report(on: "L1", "C6", "C10")
        #expect(report.notJudgedIDs == ["C10"] && report.leftOut.isEmpty, "\(report)")
        #expect("\(report)".contains("C10 not judged  mend C6 first"), "\(report)")
    }

    @Test func `a clause that a script breaks leaves nothing out`() async throws {
        var report = await PlantedBugTests.smallSubject(bug: .ignoresExpiration).report(on: "L1", "C6", "S1", "C11")
        let crowd = try #require(report.rows.first { $0.clause.id == "S1" })
        let violation = ContractViolation(clause: crowd.clause, expected: "one load", observed: "two", trace: [])
        report.add(ScriptSearch.Result(findings: [violation]))
        #expect(report.brokenIDs == ["C6", "S1"], "\(report)")
        #expect(report.leftOut.map(\.clause.id) == ["C11", "C11"], "\(report)")
    }

    /// Nothing that a load brings is cached by a service that is made with an expired token: one script of C11 shows
    /// it.
    @Test func `a fault that a script of another clause shows stands in the row of its own clause`() async throws {
        let subject = ContractSubject("forgets", features: [.expiry, .initialToken]) { fixture in
            let isExpired = fixture.initialToken?.expiration.map { $0 < fixture.clock.now } ?? false
            return .callback(BuggyService(for: fixture, bug: isExpired ? .neverCaches : nil))
        }
        let report = await subject.report(on: "L1", "C1", "C6", "C10", "C11")
        let broken = report.rows.compactMap { row in if case .broken = row.outcome { row.clause.id } else { nil } }
        #expect(broken == ["C1"] && report.brokenIDs == ["C1"], "\(report)")
        #expect(report.notJudgedIDs == ["C11"], "\(report)")
        #expect(try #require(report.violations.first).script != nil, "\(report)")
    }

    @Test func `a token that is handed out after its rejection breaks the clause about rejections`() async {
        let features: ContractFeatures = [.expiry, .refreshAhead, .invalidation, .callbackLoader]
        let subject = ContractSubject("ignores rejections during a load", features: features) { fixture in
            let service = BuggyService(for: fixture, bug: nil)
            return .retrieving { handler in
                _ = service.retrieveToken(then: handler)
            } invalidate: { token in
                if fixture.loader.loads.allSatisfy({ !$0.isOpen }) { service.invalidate(token) }
            }
        }
        let report = await subject.report(on: "L1", "C1", "C5", "C6", "F1", "S1", "S2", "I1")
        #expect(report.brokenIDs == ["I1"], "\(report)")
        #expect(report.leftOut.map(\.clause.id) == ["F1", "F1", "S2"], "\(report)")
        let situation = "the load ahead is running, and the cached token is rejected"
        #expect(report.violations.first?.situation == situation, "\(report)")
    }

    @Test func `a current token that has expired hides nothing that callers are given`() async {
        let report = await PlantedBugTests.smallSubject(bug: .expiredTokenIsCurrent)
            .report(on: "L1", "C6", "C10", "S1", "S2", "S5", "F1")
        #expect(report.brokenIDs == ["C6"], "\(report)")
        #expect(report.notJudgedIDs == [] && report.leftOut.isEmpty, "\(report)")
    }

    @Test func `a storm after a failure breaks the clause about storms`() async {
        let subject = ContractSubject("a storm") { fixture in
            @Sendable func load(_ handler: @escaping AccessTokenHandler) {
                fixture.loader.load(replacing: nil) { result in
                    if case .failure = result { load(handler) } else { handler(result) }
                }
            }
            return .retrieving { load($0) }
        }
        let report = await subject.report(on: "L1", "F1", "F5", timeLimit: 0.2)
        #expect(report.brokenIDs == ["F1", "F5"], "\(report)")
    }

    /// More than six callers who wait together do not share a load (S1), and after a failure a load begins that nobody
    /// waits for (F5).
    @Test(arguments: [nil, BuggyService.Bug.clearsNewerLoads])
    func `a load of a new session is looked at also where loads are not always shared`(
        _ bug: BuggyService.Bug?
    ) async {
        let subject = Self.sometimesAlone(bug, loadsAfterFailures: true) { _, waiting in waiting > 6 }
        let report = await subject.report(on: "L1", "F5", "S1", "S5")
        #expect(report.brokenIDs == ["F5", "S1"] + (bug == nil ? [] : ["S5"]), "\(report)")
        #expect(report.notJudgedIDs == [], "\(report)")
    }

    /// The third caller is the first that could join the new session's load.
    @Test func `a caller that joins no load is not blamed on the end of another load`() async {
        let report = await Self.sometimesAlone { call, _ in call % 3 == 0 }.report(on: "L1", "S1", "S5")
        #expect(report.brokenIDs == ["S1"] && report.notJudgedIDs == ["S5"], "\(report)")
    }

    /// The small service, beside which some callers load for themselves.
    private static func sometimesAlone(
        _ bug: BuggyService.Bug? = nil,
        loadsAfterFailures: Bool = false,
        isAlone: @escaping @Sendable (_ call: Int, _ waiting: Int) -> Bool
    ) -> ContractSubject {
        let features: ContractFeatures = [.expiry, .invalidation, .signIn, .signOut, .callbackLoader]
        return ContractSubject("some callers load alone", features: features) { fixture in
            let service = BuggyService(for: fixture, bug: bug)
            let counts = Locked((calls: 0, waiting: 0))
            return .retrieving { handler in
                let isAlone = counts.withLock { counts in
                    counts.calls += 1
                    counts.waiting += 1
                    return isAlone(counts.calls, counts.waiting)
                }
                let answered: AccessTokenHandler = { result in
                    counts.withLock { $0.waiting -= 1 }
                    handler(result)
                    if case .failure = result, loadsAfterFailures { service.retrieveToken { _ in } }
                }
                if isAlone {
                    fixture.loader.load(replacing: nil, then: answered)
                } else {
                    service.retrieveToken(then: answered)
                }
            } invalidate: { token in
                service.invalidate(token)
            } signIn: { token in
                service.signIn(token)
            } signOut: {
                await withCheckedContinuation { done in service.signOut { done.resume() } }
            }
        }
    }
}

@Suite("A service may load before anybody asks", .takesTurnsToWait, .endsHangs)
struct PreloadingTests {
    enum Moment: CaseIterable {
        case start, startAndSignIn, startAndLaterThanSignIn
    }

    /// The small service with a load of its own when it is made, and after each sign-in.
    @Test(arguments: Moment.allCases)
    func `and keeps every clause`(loadingAt moment: Moment) async {
        let features: ContractFeatures = [
            .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline,
            .currentToken, .deliveryQueue, .callbackLoader, .forcedRefresh,
        ]
        let subject = ContractSubject("a preloader", features: features) { fixture in
            let service = BuggyService(for: fixture, bug: nil)
            service.retrieveToken { _ in }
            return ContractService.callback(
                service,
                refresh: { service.refreshToken(then: $0) },
                signIn: { token in
                    service.signIn(token)
                    switch moment {
                    case .start: break
                    case .startAndSignIn: service.refreshToken { _ in }
                    case .startAndLaterThanSignIn: Task { service.refreshToken { _ in } }
                    }
                },
                currentToken: { service.currentToken }
            )
        }
        for _ in 1...runs {
            let report = await subject.report(scripts: Effort.isThorough ? 100 : 20)
            #expect(report.isKept, "\(report)")
        }
    }
}
