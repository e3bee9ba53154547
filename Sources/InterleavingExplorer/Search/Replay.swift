/// What one schedule has led to.
public struct Replay: Sendable {
    /// The steps, by name.
    public let trace: Trace
    /// What went wrong, if anything did.
    public let failure: ScenarioFailure?
}
