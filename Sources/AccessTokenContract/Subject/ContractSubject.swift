/// A kind of service that the contract is verified on: a factory, and the features that it declares.
///
/// ```swift
/// let subject = ContractSubject("the queue service", features: [.expiry, .leeway, .invalidation]) { fixture in
///     .callback(AccessTokenService(loader: fixture.loader, policy: fixture.policy, clock: fixture.clock))
/// }
/// ```
public struct ContractSubject: Sendable {
    /// What reports call it.
    public let name: String

    /// What it can do beyond retrieving tokens.
    public let features: ContractFeatures

    let make: @Sendable (ContractFixture) -> ContractService

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - name: what reports call it.
    ///   - features: what it can do; clauses that need more are skipped, visibly.
    ///   - make: makes a new service for each clause, out of the fixture's loader, clock, policy and queue.
    public init(
        _ name: String,
        features: ContractFeatures = [],
        make: @escaping @Sendable (ContractFixture) -> ContractService
    ) {
        self.name = name
        self.features = features
        self.make = make
    }
}

extension ContractSubject: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
