/// What one schedule has led to.
@available(Executors, *)
public struct Replay: Sendable, CustomStringConvertible {
    /// The steps, by name.
    public let trace: Trace
    /// What went wrong, if anything did.
    public let failure: ScenarioFailure?

    /// The failure, with the steps that led to it; the steps alone if all holds.
    public var description: String {
        failure?.description ?? trace.description
    }
}
