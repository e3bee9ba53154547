import AccessTokenGCD

/// Writes down what happens in a round, as it happens, from whatever thread it happens on.
final class RoundRecorder: Sendable {
    private struct State {
        var start = ContinuousClock.now
        var moments: [Moment] = []
    }

    private let state = Locked(State())

    /// Forgets what was recorded and counts time from now.
    func begin() {
        state.withLock { $0 = State() }
    }

    func record(_ step: Step) {
        state.withLock { state in
            state.moments.append(Moment(step: step, time: state.start.duration(to: .now)))
        }
    }

    var moments: [Moment] {
        state.withLock { $0.moments }
    }
}
