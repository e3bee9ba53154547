/// What a correct object answers that is used by one caller after the other.
///
/// A specification only says whether an answer is right. So it may leave open what is nobody's business, such as the number
/// in a new token.
public protocol SequentialSpecification: Sendable {
    /// A call, with its arguments.
    associatedtype Call: Sendable
    /// What a call returns or throws, as a value.
    associatedtype Answer: Sendable

    /// Whether a call may be answered so now; if it may, `self` becomes the state after the call.
    mutating func permits(_ call: Call, answering answer: Answer) -> Bool
}

/// The calls of a run and their answers, which must look as if each call had happened at one moment between the two.
///
/// That is linearizability (Herlihy and Wing). A run fails if no order of its calls explains the answers: one that keeps the
/// order of calls that did not overlap, and that the sequential specification permits.
///
/// ```swift
/// let history = run.history(of: SequentialCounter())
/// run.operation("first") { await history.call(.increment) { await counter.increment() } }
/// run.operation("second") { await history.call(.increment) { await counter.increment() } }
/// ```
///
/// Nothing else has to be checked. Each call and each answer is marked, so that their orders are tried.
public final class CallHistory<Specification: SequentialSpecification>: Sendable {
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
    private let state = Protected(State())

    init(_ specification: Specification, of run: ScenarioRun) {
        self.specification = specification
        self.run = run
    }

    /// Makes a call, and writes down the answer.
    @discardableResult
    public nonisolated(nonsending) func call(
        _ call: Specification.Call,
        _ body: () async -> Specification.Answer
    ) async -> Specification.Answer {
        let index = begin(call)
        let answer = await body()
        end(index, answer)
        return answer
    }

    /// Writes down that a call is made whose answer comes in another way, such as a handler; returns what ends it.
    public func begin(_ call: Specification.Call) -> Int {
        run.effect("calls \(call)") {
            state.withLock { state in
                state.entries.append(Entry(call: call, began: state.tick()))
                return state.entries.count - 1
            }
        }
    }

    /// Writes down the answer of a call that was begun.
    public func end(_ index: Int, _ answer: Specification.Answer) {
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
    func isLinearizable() -> Bool {
        let entries = state.withLock(\.entries).filter { $0.answer != nil }
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

extension ScenarioRun {
    /// A history of calls that must be linearizable; to be called in the setup.
    public func history<Specification: SequentialSpecification>(
        of specification: Specification
    ) -> CallHistory<Specification> {
        let history = CallHistory(specification, of: self)
        invariant("the calls are linearizable") { history.isLinearizable() }
        return history
    }
}
