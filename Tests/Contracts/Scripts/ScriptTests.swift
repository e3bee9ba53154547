import AccessTokenSynchronization
import BuggyServices
import Foundation
import TestSupport
import Testing

@testable import AccessTokenContract

@Suite("A script", .takesTurnsToWait, .endsHangs)
struct ScriptTests {
    /// Bugs in situations that no clause is tried in, each with a script that shows it and the clause that it
    /// breaks.
    static let bugs: [(bug: BuggyService.Bug, script: Script, clause: ClauseID)] = [
        (
            .noDeadlineInASecondSession,
            Script(.deadline, [.call, .signIn(.expired), .call, .pass(.elevenSeconds)]), "T1"
        ),
        (.noDeadlineForced, Script(.deadline, [.refresh, .pass(.elevenSeconds)]), "T1"),
        (.timeOutForcedDropsToken, Script(.deadline, [.signIn(.valid), .refresh, .pass(.elevenSeconds), .call]), "C8"),
        (.failureForcedDropsToken, [.signIn(.valid), .refresh, .answer(.failure), .call], "C8"),
        (.forcedWaitersStayAtFailure, [.refresh, .answer(.failure)], "F1"),
        (.forcedWaitersStayAtDeadline, Script(.deadline, [.refresh, .pass(.elevenSeconds)]), "T1"),
        (.secondSignOutSignsIn, [.signOut, .signOut, .call], "O3"),
        (.signOutAnswersOffQueue, [.call, .signOut], "D4"),
        (.deadlineAnswersOffQueue, Script(.deadline, [.call, .pass(.elevenSeconds)]), "D4"),
        (.signInAnswersOffQueue, [.call, .signIn(.valid)], "D4"),
        (.refusedRefreshOffQueue, [.signOut, .refresh], "D4"),
        (.signOutLeavesForcedWaiters, [.refresh, .signOut], "O4"),
        (.expiredSignInIsServed, [.call, .signIn(.expired)], "C6"),
        (.forcedTokenIsNotCached, [.refresh, .answer(.token), .call], "C1"),
        (.forcedTokenNeverExpires, [.refresh, .answer(.token), .pass(.life), .call], "C6"),
        (
            .secondRejectionIsIgnored,
            [.call(then: .reject), .answer(.token), .call(then: .reject), .answer(.token), .call], "I1"
        ),
        (
            .repeatedAnswerReplacesSignedInToken, [.call, .answer(.failure), .signIn(.valid), .again(.token), .call],
            "D7"
        ),
        (.cancelOfTheLastTakesTheOneBefore, [.call, .call, .call, .cancel(.last)], "X4"),
        (
            .noDeadlineAhead,
            Script(.all, [.signIn(.valid), .pass(.freshness), .call, .refresh, .pass(.elevenSeconds)]), "T1"
        ),
        (
            .timeOutAheadDropsToken,
            Script(.all, [.signIn(.valid), .pass(.freshness), .call, .pass(.elevenSeconds), .call]), "C8"
        ),
        (
            .lateAnswerIgnoresSignOut,
            Script(.deadline, [.call, .pass(.elevenSeconds), .signOut, .answer(.token), .call]), "O1"
        ),
        (
            .lateAnswerIgnoresSignIn,
            Script(.deadline, [.call, .pass(.elevenSeconds), .signIn(.valid), .answer(.token), .call]), "O2"
        ),
        (
            .signInDuringALoadAheadIsIgnored,
            Script(.ahead, [.signIn(.valid), .pass(.freshness), .call, .signIn(.valid), .call]), "O2"
        ),
        (.windowAnswersOffQueue, Script(.ahead, [.signIn(.valid), .pass(.freshness), .call]), "D4"),
        (.locksAtSignOut, [.call(then: .call), .signOut], "D10"),
        (.locksAtDeadline, Script(.deadline, [.call(then: .call), .pass(.elevenSeconds)]), "D10"),
        (.locksAtCancel, [.call, .call(then: .call), .cancel(.last)], "D10"),
        (.locksAtCache, [.signIn(.valid), .call(then: .call)], "D5"),
        (.locksWhenRefused, [.signOut, .call(then: .call)], "D10"),
        (
            .lateTokenClearsNewerLoad,
            Script(.deadline, [.call, .pass(.elevenSeconds), .call, .answer(.token, from: .oldest), .refresh]), "I7"
        ),
        (
            .lateFailureFailsNewerWaiters,
            Script(.deadline, [.call, .pass(.elevenSeconds), .call, .answer(.failure, from: .oldest)]), "T3"
        ),
        (
            .failureAheadAfterExpirySticks,
            Script(.ahead, [.signIn(.valid), .pass(.freshness), .call, .pass(.life), .call, .answer(.failure), .call]),
            "F2"
        ),
        (.signInLeavesForcedWaiters, [.refresh, .signIn(.valid)], "O8"),
        (
            .newSessionJoinsTheOldLoadAhead,
            Script(
                .ahead,
                [.signIn(.valid), .pass(.freshness), .call, .signOut, .signIn(.valid), .refresh, .answer(.token)]
            ), "I6"
        ),
        (.cancelStopsTheDeadline, Script(.deadline, [.call, .call, .cancel(.last), .pass(.elevenSeconds)]), "T1"),
        (
            .joinerPostponesTheDeadline,
            Script(.deadline, [.call, .pass(.nineSeconds), .call, .pass(.fourSeconds)]), "T1"
        ),
        (
            .rejectionStopsTheDeadline,
            Script(.deadline, [.signIn(.valid), .refresh, .reject(.current), .pass(.elevenSeconds)]), "T1"
        ),
        (.secondFailureSticks, [.call, .answer(.failure), .call, .answer(.failure), .call], "F2"),
        (.sourceBelongsToTheFirstCaller, [.call, .cancel(.first), .answer(.failure), .call], "F2"),
        (
            .cancelledLoadAheadStays,
            Script(.ahead, [.signIn(.valid), .pass(.freshness), .call, .answer(.cancellation), .pass(.life), .call]),
            "C10"
        ),
        (
            .loadsAheadUnderALock,
            Script(.ahead, [.loader(.answersAtOnce), .signIn(.valid), .pass(.freshness), .call]), "D8"
        ),
        (
            .aheadTokenNeverExpires,
            Script(.ahead, [.signIn(.valid), .pass(.freshness), .call, .answer(.token), .pass(.life), .call]), "C6"
        ),
        (.rejectionAfterSignInIsIgnored, [.signOut, .signIn(.valid), .refresh, .reject(.current), .call], "I1"),
        (
            .lateTokenNeverExpires,
            Script(.deadline, [.call, .pass(.elevenSeconds), .answer(.token), .pass(.life), .call]), "C6"
        ),
        (
            .timeOutForgetsRejection,
            Script(.deadline, [.signIn(.valid), .reject(.current), .call, .pass(.elevenSeconds), .call]), "I1"
        ),
    ]

    /// Matters of order alone, for which the explorer has its scenarios.
    private static let ordersOnly: Set<BuggyService.Bug> = [
        .registersLate, .cancellableLate, .failureForgetsWaitersLate, .effectsOutOfOrder,
    ]

    @Test func `or a clause shows each bug of the small service`() {
        let shown = Self.ordersOnly.union(PlantedBugTests.bugs.keys).union(Self.bugs.map(\.bug))
        #expect(BuggyService.Bug.allCases.filter { !shown.contains($0) } == [])
    }

    @Test(arguments: bugs.indices)
    func `that shows a bug names its clause, and accuses no service without the bug`(_ index: Int) async {
        let (bug, script, clause) = Self.bugs[index]
        let violation = await script.play(on: PlantedBugTests.smallSubject(bug: bug))
        #expect(violation?.clause.id == clause, "\(bug): \(violation.map { "\($0)" } ?? "kept")")
        let accusation = await script.play(on: PlantedBugTests.smallSubject(bug: nil))
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    /// What a service that promises no convention, and may refuse callers after five loads, is judged by all the same.
    static let plainBugs: [(bug: BuggyService.Bug, script: Script, clause: ClauseID)] = [
        (
            .secondFailureSticks,
            Script(
                .plain,
                [.call, .answer(.failure), .call, .answer(.token)] + again(4) + again(1, .failure) + [.call]
            ),
            "F2"
        ),
        (.secondRejectionIsIgnored, Script(.plain, again(1) + again(1, .sameToken) + again(1) + [.call]), "I1"),
        (.signInLeavesForcedWaiters, [.refresh, .signIn(.valid), .answer(.failure)], "D1"),
    ]

    /// The token is rejected, and a load brings another one.
    private static func again(_ count: Int, _ answer: Step.Answer = .token) -> [Step] {
        (0..<count).flatMap { _ in [.reject(.current), .call, .answer(answer)] as [Step] }
    }

    @Test(arguments: plainBugs.indices)
    func `that shows a bug shows it in a service without promises`(_ index: Int) async {
        let (bug, script, clause) = Self.plainBugs[index]
        let violation = await script.play(on: PlantedBugTests.smallSubject(bug: bug, promises: []))
        #expect(violation?.clause.id == clause, "\(bug): \(violation.map { "\($0)" } ?? "kept")")
        let accusation = await script.play(on: PlantedBugTests.smallSubject(bug: nil, promises: []))
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    /// One that shows once in three times may be of the machine.
    @Test func `that a clause plays accuses no service of what shows once`() async throws {
        let made = Locked(0)
        let subject = ContractSubject("forgets once", features: .initialToken) { fixture in
            let number = made.withLock { made in
                made += 1
                return made
            }
            // The clause makes the first one, and its script the others.
            return .callback(BuggyService(for: fixture, bug: number == 2 ? .forgetsTheStoredToken : nil))
        }
        let clause = try #require(ServiceContract.clauses.first { $0.id == "C11" })
        let outcome = await clause.verify(subject)
        #expect(outcome.isKept, "\(outcome)")
        #expect(made.withLock { $0 } == 3)
    }

    @Test func `that a clause plays is reported with the situation`() async throws {
        let report = await PlantedBugTests.smallSubject(bug: .signInForgetsTheExpiration).report(on: "L1", "C2")
        let violation = try #require(report.violations.first, "\(report)")
        #expect(violation.situation == "a sign-in has brought the token")
        #expect(violation.script == Script(.leeway, [.signIn(.valid), .pass(.leeway), .call]))
    }

    @Test func `asks for nothing that the subject has not declared`() async {
        let subject = PlantedBugTests.smallSubject(bug: nil, [.initialToken, .callbackLoader])
        let expired = await Script(.all, initialToken: .expired, [.call, .pass(.life), .call]).play(on: subject)
        #expect(expired == nil, "\(expired.map { "\($0)" } ?? "")")
    }

    @Test(arguments: OwnSubjects.some)
    func `lets no loader ask a service that was dropped`(_ subject: ContractSubject) async {
        let script: Script = [.loader(.asksItsService), .call, .signIn(.expired), .drop, .answer(.token)]
        let accusation = await script.play(on: subject)
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    @Test func `lets a sign-in with an expired token answer whom a failure has made call again`() async {
        let script: Script = [.call(then: .refresh), .answer(.failure), .signIn(.expired)]
        let accusation = await script.play(on: PlantedBugTests.smallSubject(bug: nil))
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    /// Handlers that are called in the middle of the time that passes.
    @Test(arguments: OwnSubjects.some)
    func `judges what is called while time passes by any time of it`(_ subject: ContractSubject) async {
        let scripts = [
            Script(
                .all,
                [
                    .signIn(.valid), .pass(.freshness), .call, .pass(.life), .call, .answer(.token, from: .oldest),
                    .call(then: .call), .pass(.leeway),
                ]
            ),
            Script(.all, [.call, .answer(.token), .reject(.current), .call(then: .signIn), .pass(.leeway)]),
        ]
        for script in scripts {
            let accusation = await script.play(on: subject)
            #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
        }
    }

    /// The newer of two late loads has answered first, and its token has expired when the older one answers.
    @Test(arguments: OwnSubjects.some)
    func `lets a late answer be set aside that is older than another late one`(_ subject: ContractSubject) async {
        let late: [Step] = [.call, .pass(.elevenSeconds), .call, .pass(.elevenSeconds), .answer(.token)]
        let accusation = await Script(.all, late + [.pass(.life), .answer(.token)]).play(on: subject)
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
    }

    /// The newer of two late loads has brought nothing that anybody could use.
    @Test(arguments: OwnSubjects.some)
    func `wants a late token behind another late one that came expired`(_ subject: ContractSubject) async {
        let late: [Step] = [.call, .pass(.elevenSeconds), .call, .pass(.elevenSeconds)]
        let script = Script(.deadline, late + [.answer(.expiredToken), .answer(.token), .call])
        let accusation = await script.play(on: subject)
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
        let dropping = PlantedBugTests.smallSubject(bug: .dropsLateAnswers)
        #expect(await script.play(on: dropping)?.clause.id == "T2")
    }

    /// All three have waited for the load that fails.
    ///
    /// The handlers of two end that session and begin another while the third answer is on its way.
    @Test(arguments: OwnSubjects.some)
    func `lets a failure reach whom it was meant for, although handlers change the session`(
        _ subject: ContractSubject
    ) async {
        for failure in [Step.answer(.failure), .answer(.permanentFailure)] {
            let script: Script = [.call(then: .signOut), .call(then: .signIn), .call, failure]
            let accusation = await script.play(on: subject)
            #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
        }
    }

    @Test func `blames the subject's closures where the subject is put together wrongly`() async {
        let subject = ContractSubject("without signIn:", features: .signIn) { fixture in
            ContractService.retrieving { handler in
                fixture.loader.load(replacing: nil, then: handler)
            }
        }
        let violation = await ([.call] as Script).play(on: subject)
        #expect(violation?.clause.id == "L1")
        #expect("\(violation.map { "\($0)" } ?? "")".contains("signIn"))
    }

    @Test func `stands in a report as code that can be pasted`() {
        let script = Script(
            .all,
            initialToken: .expired,
            [.call(then: .signOut), .refresh, .cancelledCall, .answer(.token, from: .oldest), .pass(.end)]
        )
        let code = """
            Script(.all, initialToken: .expired, \
            [.call(then: .signOut), .refresh, .cancelledCall, .answer(.token, from: .oldest), .pass(.end)])
            """
        #expect("\(script)" == code)
        #expect("\([.call, .drop] as Script)" == "[.call, .drop]")
        let odd = Step.retrieve(refresh: true, isCancelled: true, then: .call)
        #expect("\(odd)" == ".retrieve(refresh: true, isCancelled: true, then: .call)")
    }

    @Test func `is found by the search, shortened, and the same for the same seed`() async throws {
        let subject = PlantedBugTests.smallSubject(bug: .secondSignOutSignsIn)
        let clauses = ServiceContract.clauses.filter { ["L1", "O3"].contains($0.id) }
        var found: Set<Script> = []
        for _ in 1...2 {
            let report = await ServiceContract.verify(subject, clauses: clauses, scripts: 50, seed: 7, onProgress: nil)
            let violation = try #require(report.violations.first { $0.script != nil }, "\(report)")
            #expect(violation.clause.id == "O3")
            let script = try #require(violation.script)
            #expect(script.steps.count <= 4)
            #expect("\(report)".contains("seed 7"))
            found.insert(script)
        }
        #expect(found.count == 1, "\(found)")
    }

    #if os(Linux) || os(macOS)
    @Test func `that ends the process is left in a file`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let subject = ContractSubject("traps", features: .signOut) { fixture in
                    let service = BuggyService(for: fixture, bug: nil)
                    return .retrieving {
                        service.retrieveToken(then: $0)
                    } signOut: {
                        // L1 does not sign out: only a script meets the trap.
                        precondition(fixture.loader.loads.count < 3)
                        await withCheckedContinuation { done in service.signOut { done.resume() } }
                    }
                }
                let clauses = ServiceContract.clauses.filter { $0.id == "L1" }
                _ = await ServiceContract.verify(subject, clauses: clauses)
            }
        )
        let output = String(decoding: result.standardErrorContent, as: UTF8.self)
        let match = try #require(output.firstMatch(of: /being played are in (\S+\.scripts)/), "\(output)")
        let notes = try String(contentsOfFile: String(match.1), encoding: .utf8)
        #expect(notes.contains(".signOut"), "\(notes)")
        // Below a backtrace as well: a line for each script that was being played.
        let last = output.split(separator: "\n").suffix(7)
        #expect(last.contains { $0.contains(".signOut") && !$0.hasSuffix(" ") }, "\(output)")
        try FileManager.default.removeItem(atPath: String(match.1))
    }
    #endif
}
