/// What one schedule has led to.
public struct Replay: Sendable {
    /// The steps, by name.
    public let trace: Trace
    /// What went wrong, if anything did.
    public let failure: ScenarioFailure?
}

extension Replay: CustomStringConvertible {
    /// The failure, with the steps that led to it; the steps alone if all holds.
    public var description: String {
        failure?.description ?? trace.description
    }
}
