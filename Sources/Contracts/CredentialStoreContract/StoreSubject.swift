public import AccessTokenOAuth
import ContractHarness
public import Foundation

/// A kind of credential store that the contract is verified on: how to open it, and what it declares.
public struct StoreSubject: Sendable {
    /// What reports call it.
    public let name: String

    /// What it can do; clauses that need more are skipped, visibly.
    public let features: StoreFeatures

    /// The ids of the ``StoreContract/conventions`` that it promises to follow; breaking any other is advice, and no
    /// defect.
    public let promises: Set<ClauseID>

    let open: @Sendable (StoreFixture) async throws -> any CredentialStore
    let loseExclusion: (@Sendable (StoreFixture) async throws -> Void)?

    /// Creates a subject.
    ///
    /// `open` opens the store of a fixture, which is empty at first; with the feature ``StoreFeatures/openings`` it is
    /// called several times for one fixture.
    ///
    /// `loseExclusion` takes the exclusion away from whoever is inside, and returns when the next one may go in: it
    /// cuts the connections to a database, or lets a lease run out. It may hit the stores of all fixtures, since no
    /// other clause runs meanwhile. With it, the subject has ``StoreFeatures/losesExclusion``.
    public init(
        _ name: String,
        features: StoreFeatures = [],
        promises: Set<ClauseID> = [],
        open: @escaping @Sendable (StoreFixture) async throws -> any CredentialStore,
        loseExclusion: (@Sendable (StoreFixture) async throws -> Void)? = nil
    ) {
        self.name = name
        self.features = loseExclusion == nil ? features : features.union(.losesExclusion)
        self.promises = promises
        self.open = open
        self.loseExclusion = loseExclusion
    }
}

extension StoreSubject: VerifiedSubject {
    package typealias Run = StoreRun
}

/// Where a store is to be for one scenario.
public struct StoreFixture: Sendable {
    /// A name that no other scenario has, of letters and digits: a key, a row, an account.
    public let name: String

    /// A folder that does not exist yet and is removed after the scenario.
    public let folder: URL

    /// Seconds after which an update that waits is to be told that the store is busy.
    public let waitLimit: TimeInterval
}

/// What a store can do beyond keeping a credential for one opening; a clause is only run on subjects that have it.
public struct StoreFeatures: OptionSet, Hashable, Sendable, CustomStringConvertible {
    /// The features as bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Several openings of one place are one store, as in several processes.
    public static let openings = StoreFeatures(rawValue: 1 << 0)
    /// The fixture's wait limit is observed.
    public static let waitLimit = StoreFeatures(rawValue: 1 << 1)
    /// A body that lives can lose its exclusion, as by a cut connection; a subject has it that says how.
    public static let losesExclusion = StoreFeatures(rawValue: 1 << 2)

    /// The names of the features, separated by commas.
    public var description: String { names(["openings", "waitLimit", "losesExclusion"]) }
}
