public import AccessTokenAdapters
import ContractHarness
public import Dispatch

/// A kind of service that the contract is verified on: a factory, and what the service declares.
public struct ContractSubject: Sendable {
    /// What reports call it.
    public let name: String

    /// What it can do beyond retrieving tokens; clauses that need more are skipped, visibly.
    public let features: ContractFeatures

    /// The ids of the ``ServiceContract/conventions`` that it promises to follow; breaking any other is advice, and no
    /// defect.
    public let promises: Set<ClauseID>

    /// The number of loads after which a service may refuse its callers for a while, as a circuit breaker does; `nil`
    /// if it never does.
    public let loadLimit: Int?

    let errors: @Sendable (any Error) -> any Error
    let make: @Sendable (ContractFixture) async -> ContractService

    /// Creates a subject.
    ///
    /// `errors` says what an error of the service stands for in the contract's words, if the service has error types of
    /// its own: the ``ContractLoadError`` that it wraps, `CancellationError`, or an `AccessTokenError`.
    ///
    /// `make` makes a new service, out of the fixture's loader, clock, policy and queue, anew for each run. It may be
    /// async, for a service that is made on an actor, such as the main actor.
    public init(
        _ name: String,
        features: ContractFeatures = [],
        promises: Set<ClauseID> = [],
        loadLimit: Int? = nil,
        errors: @escaping @Sendable (any Error) -> any Error = { $0 },
        make: @escaping @Sendable (ContractFixture) async -> ContractService
    ) {
        self.name = name
        self.features = features
        self.promises = promises
        self.loadLimit = loadLimit
        self.errors = errors
        self.make = make
    }
}

extension ContractSubject: VerifiedSubject, CustomStringConvertible {
    package typealias Run = ClauseRun

    /// The name.
    public var description: String { name }
}

/// What a subject is made of while a clause is verified: everything around it that the suite controls.
public struct ContractFixture: Sendable {
    /// Answers when the clause says so; it is both a callback and an async loader.
    public let loader: ControlledLoader

    /// Stands still until the clause moves it.
    public let clock: ManualClock

    /// What the clause needs the policy to be.
    public let policy: AccessTokenPolicy

    /// What the service's initialiser is given, if the subject declares ``ContractFeatures/initialToken``.
    public let initialToken: AccessToken?

    /// The serial queue on which handlers are promised to be called.
    public let handlerQueue: DispatchQueue

    /// Takes the subject's events into the trace.
    public let onEvent: @Sendable (AccessTokenEvent) -> Void
}
