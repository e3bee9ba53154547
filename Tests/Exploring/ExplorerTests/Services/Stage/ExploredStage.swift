import AccessTokenCore
import AccessTokenGCD
import Dispatch
import Foundation
import InterleavingExplorer

/// A run of the explorer: every moment that a stage leaves open is a choice of the schedule.
struct ExploredStage: Stage {
    let run: ScenarioRun

    var executor: any TaskExecutor { run.executor }
    var clock: any AccessTokenClock { ScenarioClock(clock: run.clock) }

    func queue(_ name: String) -> any SerialQueue {
        ControlledSerialQueue(run.queue(name))
    }

    func dispatchQueue(_ name: String, target: DispatchQueue?) -> DispatchQueue {
        let queue = DispatchQueue(label: name, target: target)
        // What targets a controlled queue is under control with it.
        if target == nil { run.control(queue, name) }
        return queue
    }

    func notice(_ text: String, writing: () -> Void) {
        writing()
        run.effect(text)
    }

    func notice<Result>(_ text: String, _ body: () -> Result) -> Result {
        run.effect(text, body)
    }

    nonisolated(nonsending) func pause(_ name: String) async {
        await run.pause(name)
    }

    func step(_ name: String, _ action: @escaping @Sendable () -> Void) {
        run.step(name, action)
    }

    func part(_ name: String, isCancelled: Bool, _ body: @escaping @Sendable () async -> Void) {
        let operation = run.operation(name) { await body() }
        if isCancelled { run.step(cancelling: operation) }
    }
}

/// The virtual time of a run, as services see it.
private struct ScenarioClock: AccessTokenClock {
    let clock: VirtualClock

    var now: Date {
        Date(timeIntervalSince1970: 1_800_000_000).addingTimeInterval(clock.now.offset / .seconds(1))
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let timer = clock.schedule(after: .seconds(delay), "the deadline passes", action)
        return AccessTokenTimer { timer.cancel() }
    }
}

/// A queue of the explorer as a service takes one: each block is a choice, but only when it is there.
final class ControlledSerialQueue: SerialQueue {
    /// Has what blocks find of their queue, such as the loads that a loader is called in.
    let dispatchQueue: DispatchQueue
    private let controlled: ControlledQueue

    init(_ controlled: ControlledQueue) {
        self.controlled = controlled
        dispatchQueue = DispatchQueue(label: controlled.name)
    }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        controlled.async { [dispatchQueue] in dispatchQueue.sync(execute: block) }
    }
}

extension Scenario {
    /// A scenario of the contract for the explorer; it fails with the first rule that is broken.
    init(_ scenario: ContractScenario, with subject: Subject) {
        self.init("\(scenario), on \(subject)") { run in
            let play = Play(scenario, with: subject, on: ExploredStage(run: run))
            play.begin()
            // A silent load has no answer.
            if scenario.loads.contains(.silence) { run.permitUnfinishedTasks() }
            run.invariant("the contract is kept") {
                if let broken = play.history.brokenRule { throw broken }
                return true
            }
        }
    }
}
