import AccessTokenGCD
import BuggyServices
import InterleavingExplorer
import TestSupport
import Testing

/// A service with a bug that is a matter of order, and a scenario that shows it under some schedule.
///
/// The race gallery has the published bugs.
struct PlantedBug: Sendable, CustomStringConvertible {
    let subject: Subject
    let scenario: ContractScenario
    /// A clause of the rule that it breaks; `nil` if a caller waits for ever.
    let clause: String?

    var description: String { subject.name }

    static let all = [
        PlantedBug(small(.blanketInvalidation), breaks: "I2", in: "a late rejection"),
        PlantedBug(small(.registersLate), breaks: nil, in: "two callers"),
        PlantedBug(small(.cancellableLate), breaks: nil, in: "a cancelled caller of a silent load"),
        PlantedBug(small(.failureForgetsWaitersLate), breaks: nil, in: "two callers and an error"),
        PlantedBug(small(.cancelledWaiterFailsAll), breaks: "X1", in: "two callers, one of them cancelled"),
        PlantedBug(small(.signOutUndoneByLateAnswer), breaks: "O1", in: "sign-out, and asking again"),
        PlantedBug(small(.effectsOutOfOrder), breaks: nil, in: "an error, and then silence"),
        PlantedBug(small(.clearsNewerLoads), breaks: nil, in: "a late answer for two"),
        PlantedBug(small(.registersLate, ", on a queue") { $0.queue("later") }, breaks: nil, in: "two callers"),
        PlantedBug(
            small(.registersLate, ", on a queue of Dispatch") { $0.dispatchQueue("later") },
            breaks: nil,
            in: "two callers"
        ),
    ]

    /// The service that the small bugs are planted in, without one.
    static let withoutBug = small(nil)

    private init(_ subject: Subject, breaks clause: String?, in scenario: String) {
        self.subject = subject
        self.scenario = .named(scenario)
        self.clause = clause
    }

    /// - Parameter laterOn: where a bug does things later; without a queue, that is in steps.
    private static func small(
        _ bug: BuggyService.Bug?,
        _ detail: String = "",
        laterOn queue: (@Sendable (Subject.Surroundings) -> any SerialQueue)? = nil
    ) -> Subject {
        Subject(bug.map { "\($0)\(detail)" } ?? "a small service", isByHandlers: true) { surroundings in
            let queue = queue?(surroundings)
            let service = BuggyService(
                loader: surroundings.loader,
                policy: surroundings.policy,
                clock: surroundings.clock,
                handlerQueue: surroundings.queue("handlers"),
                later: { block in if let queue { queue.enqueue(block) } else { surroundings.run.step("later", block) }
                },
                bug: bug
            )
            return Subject.Service(provider: .callback(service), currentToken: { service.currentToken })
        }
    }
}

@Suite("Bugs that are a matter of order", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct PlantedBugTests {
    private let explorer = Explorer().with(\.patience, .milliseconds(20))

    @Test(arguments: PlantedBug.all)
    func `are found, with a schedule that shows them again`(_ bug: PlantedBug) async throws {
        let scenario = Scenario(bug.scenario, with: bug.subject)
        let report = await explorer.explore(scenario)
        let failure = try #require(report.failure, "\(bug) must be found in “\(bug.scenario)”: \(report)")
        let replay = await explorer.replay(failure.schedule, of: scenario)
        #expect(replay.failure?.message == failure.message)
        #expect(replay.trace == failure.trace)
        if let clause = bug.clause {
            #expect(failure.kind == .brokenInvariant && failure.message.contains(clause), "\(failure)")
        } else {
            #expect(failure.kind == .lostWaiter, "\(failure)")
        }
    }

    @Test(arguments: Set(PlantedBug.all.map(\.scenario.name)).sorted())
    func `are not found where nothing is planted`(_ scenario: String) async {
        let explorer = explorer.with(\.maximumSchedules, 300)
        let report = await explorer.explore(Scenario(.named(scenario), with: PlantedBug.withoutBug))
        #expect(report.holds, "\(report)")
    }
}
