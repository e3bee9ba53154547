import Dispatch

/// What has escaped from control during an exploration, and a signal for each arrival from outside.
@available(Executors, *)
final class EscapeLog: Sendable {
    private struct State: Sendable {
        var first: String?
        /// Whose report is out, and says nothing of an escape.
        var closedScenario: String?
    }

    private let state = Protected(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Notes an escape, which may be called on any thread.
    func report(_ message: String) {
        let scenario = state.withLock { state in
            state.first = state.first ?? message
            return state.closedScenario
        }
        signal.signal()
        if let scenario {
            StandardError.append("InterleavingExplorer: \(scenario): the report was wrong, for later \(message)\n")
        }
    }

    var first: String? {
        state.withLock { $0.first }
    }

    /// Waits for the next escape, and returns whether there was one in time.
    func wait(for patience: Duration) -> Bool {
        let seconds = patience / Duration.seconds(1)
        return signal.wait(timeout: .now() + seconds) == .success
    }

    /// From now on the explorer does not look here any more; what comes yet goes to standard error.
    ///
    /// Returns the first escape, if there was one before.
    func close(_ scenario: String) -> String? {
        state.withLock { state in
            if state.first == nil {
                state.closedScenario = scenario
            }
            return state.first
        }
    }
}
