public import AccessTokenAdapters
public import Dispatch

/// What a subject is made of while a clause is verified: everything around it that the suite controls.
public struct ContractFixture: Sendable {
    /// Answers when the clause says so; it is both a callback and an async loader.
    public let loader: ControlledLoader

    /// Stands still until the clause moves it.
    public let clock: ManualClock

    /// What the clause needs the policy to be.
    public let policy: AccessTokenPolicy

    /// The serial queue on which handlers are promised to be called.
    public let queue: DispatchQueue

    /// Takes the subject's events into the trace.
    public let onEvent: @Sendable (AccessTokenEvent) -> Void
}
