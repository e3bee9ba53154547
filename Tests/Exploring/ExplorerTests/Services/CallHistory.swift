import AccessTokenCore
import InterleavingExplorer
import TestSupport

/// What a correct object answers that is used by one caller after the other.
protocol SequentialSpecification: Sendable {
    associatedtype Call: Sendable
    associatedtype Answer: Sendable

    /// Whether a call may be answered so now; if it may, `self` becomes the state after the call.
    mutating func permits(_ call: Call, answering answer: Answer) -> Bool
}

/// The calls of a run and their answers, which must look as if each call had happened at one moment between the two.
///
/// That is linearizability (Herlihy and Wing). A run fails if no order of its calls explains the answers: one that keeps the
/// order of calls that did not overlap, and that the sequential specification permits.
final class CallHistory<Specification: SequentialSpecification>: Sendable {
    private struct Entry: Sendable {
        let call: Specification.Call
        let began: Int
        var answer: Specification.Answer?
        var ended = Int.max
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var time = 0

        mutating func tick() -> Int {
            time += 1
            return time
        }
    }

    private let run: ScenarioRun
    private let specification: Specification
    private let state = Locked(State())

    /// To be made in the setup of the run.
    init(of run: ScenarioRun, _ specification: Specification) {
        self.specification = specification
        self.run = run
        run.invariant("the calls are linearizable") { self.isLinearizable() }
    }

    /// Makes a call, and writes down the answer; both are marked, and their orders are tried.
    nonisolated(nonsending) func call(
        _ call: Specification.Call,
        _ body: () async -> Specification.Answer
    ) async {
        let index = run.effect("calls \(call)") {
            state.withLock { state in
                state.entries.append(Entry(call: call, began: state.tick()))
                return state.entries.count - 1
            }
        }
        let answer = await body()
        run.effect("is answered \(answer)") {
            state.withLock { state in
                state.entries[index].answer = answer
                state.entries[index].ended = state.tick()
            }
        }
    }

    /// Whether some order of the calls explains all answers.
    ///
    /// Tries, one after the other, each call that no unexplained call had ended before. A call without an answer may have
    /// happened or not; since nothing can be said of its answer, it is taken not to have.
    private func isLinearizable() -> Bool {
        let entries = state.withLock { $0.entries }.filter { $0.answer != nil }
        func explains(_ rest: [Entry], from specification: Specification) -> Bool {
            guard let deadline = rest.map(\.ended).min() else { return true }
            return rest.indices.contains { index in
                let entry = rest[index]
                guard entry.began < deadline, let answer = entry.answer else { return false }
                var next = specification
                guard next.permits(entry.call, answering: answer) else { return false }
                var others = rest
                others.remove(at: index)
                return explains(others, from: next)
            }
        }
        return explains(entries, from: specification)
    }
}
