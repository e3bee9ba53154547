import AccessTokenCore
import ConsoleSupport

/// Records the steps of a round, which happen on many threads.
final class RoundRecorder: Sendable {
    /// A step, and the time since the beginning of the round.
    struct Moment: Hashable, Sendable {
        let step: SequenceDiagram.Content
        let time: Duration
    }

    private struct State {
        var start = ContinuousClock.now
        var moments: [Moment] = []
    }

    private let state = Locked(State())

    /// Forgets the round before, and counts time from now.
    func begin() {
        state.withLock { $0 = State() }
    }

    func record(_ step: SequenceDiagram.Content) {
        state.withLock { state in
            state.moments.append(Moment(step: step, time: state.start.duration(to: .now)))
        }
    }

    var moments: [Moment] {
        state.withLock { $0.moments }
    }
}

/// Who takes part in a round: the lanes of the diagram, from left to right.
enum Lane: String, CaseIterable, Sendable {
    case callbackCallers = "callbacks"
    case asyncCallers = "tasks"
    case service
    case server
    /// Where the credential is kept.
    case store
}

extension SequenceDiagram.Content {
    static func request(from sender: Lane, to receiver: Lane, _ text: String) -> Self {
        .arrow(from: sender.rawValue, to: receiver.rawValue, text)
    }

    static func answer(from sender: Lane, to receiver: Lane, _ text: String) -> Self {
        .arrow(from: sender.rawValue, to: receiver.rawValue, isDashed: true, text)
    }

    static func note(_ lane: Lane, _ text: String) -> Self {
        .note(lane: lane.rawValue, text)
    }
}

extension SequenceDiagram {
    /// Draws one round.
    ///
    /// Equal steps are one row, where the first of them happened, with their number.
    init(_ moments: [RoundRecorder.Moment]) {
        typealias Repeated = (step: Content, count: Int, first: Duration, last: Duration)
        var steps: [Repeated] = []
        var indices: [Content: Int] = [:]
        for moment in moments {
            if let index = indices[moment.step] {
                steps[index].count += 1
                steps[index].last = max(steps[index].last, moment.time)
            } else {
                indices[moment.step] = steps.count
                steps.append((moment.step, 1, moment.time, moment.time))
            }
        }
        let taking = Set(steps.flatMap(\.step.lanes))
        self.init(
            lanes: Lane.allCases.map(\.rawValue).filter(taking.contains),
            rows: steps.map { step in
                let (first, last) = (step.first.milliseconds, step.last.milliseconds)
                return Row(
                    mark: first == last ? "\(first) ms" : "\(first)–\(last) ms",
                    step.count == 1 ? step.step : step.step.appending(" ×\(step.count)")
                )
            }
        )
    }
}

extension SequenceDiagram.Content {
    fileprivate func appending(_ suffix: String) -> Self {
        switch self {
        case .note(let lane, let text): .note(lane: lane, text + suffix)
        case .arrow(let from, let to, let isDashed, let text):
            .arrow(from: from, to: to, isDashed: isDashed, text + suffix)
        }
    }
}
