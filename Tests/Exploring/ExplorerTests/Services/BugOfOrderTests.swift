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
    let scenario: String
    /// A clause of the rule that it breaks; `nil` if a caller waits for ever.
    var clause: String?

    var description: String { subject.name }

    static let all = [
        PlantedBug(subject: small(.blanketInvalidation), scenario: "a late rejection", clause: "I2"),
        PlantedBug(subject: small(.registersLate), scenario: "two callers"),
        PlantedBug(subject: small(.cancellableLate), scenario: "a cancelled caller of a silent load"),
        PlantedBug(subject: small(.failureForgetsWaitersLate), scenario: "two callers and an error"),
        PlantedBug(
            subject: small(.cancelledWaiterFailsAll),
            scenario: "two callers, one of them cancelled",
            clause: "X1"
        ),
        PlantedBug(subject: small(.signOutUndoneByLateAnswer), scenario: "sign-out, and asking again", clause: "O1"),
        PlantedBug(subject: small(.effectsOutOfOrder), scenario: "an error, and then silence"),
        PlantedBug(subject: small(.clearsNewerLoads), scenario: "a late answer for two"),
    ]

    /// The service that the small bugs are planted in, without one.
    static let withoutBug = small(nil)

    private static func small(_ bug: BuggyService.Bug?) -> Subject {
        Subject(name: bug.map { "\($0)" } ?? "a small service", isByHandlers: true) { surroundings in
            let service = BuggyService(
                loader: surroundings.loader,
                policy: surroundings.policy,
                clock: surroundings.clock,
                handlerQueue: surroundings.queue("handlers"),
                later: { surroundings.run.step("later", $0) },
                bug: bug
            )
            return Subject.Service(provider: .callback(service), currentToken: { service.currentToken })
        }
    }
}

@Suite("Bugs that are a matter of order", .takesTurnsToExplore, .serialized, .endsHangs)
struct BugOfOrderTests {
    private let explorer = Explorer().with(\.patience, .milliseconds(20))

    @Test(arguments: PlantedBug.all)
    func `are found, with a schedule that shows them again`(_ bug: PlantedBug) async throws {
        let scenario = Scenario(.named(bug.scenario), with: bug.subject)
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

    @Test(
        .enabled(if: effort != nil, "for .ci/deep interleavings"),
        arguments: Set(PlantedBug.all.map(\.scenario)).sorted()
    )
    func `are not found where nothing is planted`(_ scenario: String) async {
        let explorer = explorer.with(\.maximumSchedules, 300)
        let report = await explorer.explore(Scenario(.named(scenario), with: PlantedBug.withoutBug))
        #expect(report.holds, "\(report)")
    }
}
