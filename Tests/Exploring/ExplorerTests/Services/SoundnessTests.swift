import AccessTokenCore
import InterleavingExplorer
import TestSupport
import Testing

/// The services decide under a lock, which an explorer does not see: what leaves schedules out must lose no outcome.
@Suite(
    "What is left out",
    .eightAtATime,
    .serialized,
    .enabled(if: effort != nil, "it takes long: .ci/deep interleavings"),
    .timeLimit(.minutes(10))
)
struct SoundnessTests {
    private static let scenarios = [
        "two callers", "a caller that is cancelled", "sign-out during a load", "sign-in during a load",
        "a deadline", "an error, and asking again", "the last reference goes", "two callers and an error",
        "two callers, one of them cancelled", "cancellation, answer and deadline",
    ]

    @Test(arguments: scenarios, [Subject.actor, .queue, .queueApart])
    func `would have shown nothing new`(_ name: String, on subject: Subject) async {
        let reduced = await outcomes(name, on: subject, reductions: .all)
        // With two parts that act, every hop as a choice would be some hundred thousand schedules.
        let isSmall = ContractScenario.named(name).parts.count == 1
        let full = await outcomes(name, on: subject, reductions: isSmall ? [] : .entersActorsAtOnce)
        #expect(reduced.seen == full.seen)
        #expect(reduced.schedules <= full.schedules)
    }

    @Test(arguments: scenarios)
    func `is nothing that queues of Dispatch would have shown`(_ name: String) async {
        let controlled = await outcomes(name, on: .queue, reductions: .all)
        let suspended = await outcomes(name, on: .queueOfDispatch, reductions: .all)
        #expect(suspended.seen.isSubset(of: controlled.seen))
    }

    private func outcomes(
        _ name: String,
        on subject: Subject,
        reductions: Reductions
    ) async -> (seen: Set<String>, schedules: Int) {
        let explorer = Explorer().with(\.reductions, reductions).with(\.preempts, false)
        let (seen, report) = await ExplorerTests.outcomes(by: explorer) { run in
            let play = Play(.named(name), with: subject, in: run)
            play.begin()
            return { play.history.outcome }
        }
        #expect(report.isComplete, "\(report)")
        return (seen, report.schedules)
    }
}

extension History {
    /// What everybody was told in the end, however it came to that.
    fileprivate var outcome: String {
        let noticed = entries.filter { entry in
            switch entry {
            case .answered, .loadStarts: true
            default: false
            }
        }
        return "\(noticed.map(\.description).sorted()); in the end \((finalToken ?? nil) ?? "none")"
    }
}
