/// A one-shot timer of a virtual clock.
public struct VirtualTimer: Sendable {
    let run: ScenarioRun
    let number: Int

    /// Makes sure that the timer does not fire from now on.
    public func cancel() {
        run.board.withLock { _ = $0.removeTimer(number) }
    }
}
