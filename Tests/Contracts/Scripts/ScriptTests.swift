import BuggyServices
import Foundation
import TestSupport
import Testing

@testable import AccessTokenContract

@Suite("A script", .eightAtATime, .timeLimit(.minutes(10)))
struct ScriptTests {
    /// Bugs in situations that no clause has a round for, each with a script that shows it and the clause that it
    /// breaks.
    static let bugs: [(bug: BuggyService.Bug, script: Script, clause: String)] = [
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
    ]

    @Test(arguments: bugs.indices)
    func `that shows a bug names its clause, and accuses no service without the bug`(_ index: Int) async {
        let (bug, script, clause) = Self.bugs[index]
        let violation = await script.play(on: PlantedBugTests.smallSubject(bug: bug))
        #expect(violation?.clause.id == clause, "\(bug): \(violation.map { "\($0)" } ?? "kept")")
        let accusation = await script.play(on: PlantedBugTests.smallSubject(bug: nil))
        #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
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
    }

    @Test func `is found by the search, shortened, and the same for the same seed`() async throws {
        let subject = PlantedBugTests.smallSubject(bug: .secondSignOutSignsIn)
        let clauses = ServiceContract.clauses.filter { ["L1", "O3"].contains($0.id) }
        for _ in 1...2 {
            let report = await ServiceContract.verify(subject, clauses: clauses, scripts: 200, seed: 7, onProgress: nil)
            let violation = try #require(report.violations.first { $0.script != nil }, "\(report)")
            #expect(violation.clause.id == "O3")
            #expect((violation.script?.steps.count ?? 0) <= 4)
            #expect("\(report)".contains("seed 7"))
        }
    }

    #if os(Linux) || os(macOS)
    @Test func `that ends the process is left in a file`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let subject = ContractSubject("traps", features: .signOut) { fixture in
                    let service = BuggyService(
                        loader: fixture.loader,
                        policy: fixture.policy,
                        clock: fixture.clock,
                        handlerQueue: fixture.handlerQueue,
                        bug: nil
                    )
                    return .retrieving {
                        service.retrieveToken(then: $0)
                    } signOut: {
                        // The fifth load, and so only a script, meets the trap.
                        precondition(fixture.loader.loads.count < 3)
                        await withCheckedContinuation { done in service.signOut { done.resume() } }
                    }
                }
                let clauses = ServiceContract.clauses.filter { $0.id == "L1" }
                _ = await ServiceContract.verify(subject, clauses: clauses)
            }
        )
        let output = String(decoding: result.standardErrorContent, as: UTF8.self)
        let match = try #require(output.firstMatch(of: /the last of them are in (\S+\.scripts)/), "\(output)")
        let notes = try String(contentsOfFile: String(match.1), encoding: .utf8)
        #expect(notes.contains(".signOut"), "\(notes)")
        try FileManager.default.removeItem(atPath: String(match.1))
    }
    #endif
}
