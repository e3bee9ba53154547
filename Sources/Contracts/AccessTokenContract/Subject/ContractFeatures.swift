import ContractHarness

/// What a subject can do beyond retrieving tokens; a clause is only run on subjects that have what it needs.
///
/// Leaving a feature out skips its clauses, visibly: the report says which, and why.
public struct ContractFeatures: OptionSet, Hashable, Sendable, CustomStringConvertible {
    /// The features as bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Tokens expire by the fixture's clock; this alone selects that no expired token is handed out.
    public static let expiry = ContractFeatures(rawValue: 1 << 0)
    /// Tokens expire earlier by the policy's leeway.
    public static let leeway = ContractFeatures(rawValue: 1 << 1)
    /// The policy's refresh-ahead window is observed.
    public static let refreshAhead = ContractFeatures(rawValue: 1 << 2)
    /// A rejected token can be invalidated.
    public static let invalidation = ContractFeatures(rawValue: 1 << 3)
    /// A session can be ended.
    public static let signOut = ContractFeatures(rawValue: 1 << 4)
    /// A session can be begun with a token.
    public static let signIn = ContractFeatures(rawValue: 1 << 5)
    /// A caller that waits is answered at once when it is cancelled.
    public static let cancellation = ContractFeatures(rawValue: 1 << 6)
    /// Callers are tasks, which can be cancelled before they call.
    public static let asyncCallers = ContractFeatures(rawValue: 1 << 7)
    /// Callers are handlers, which are called on the fixture's queue.
    public static let deliveryQueue = ContractFeatures(rawValue: 1 << 8)
    /// The loader answers by a callback, which it may call twice or before it returns.
    public static let callbackLoader = ContractFeatures(rawValue: 1 << 9)
    /// The service recognises a caller that is its own loader, during a load.
    public static let loaderRecognition = ContractFeatures(rawValue: 1 << 10)
    /// A load that is silent past the policy's deadline, by the fixture's clock, fails its waiters.
    public static let loadDeadline = ContractFeatures(rawValue: 1 << 11)
    /// Events reach the fixture.
    public static let events = ContractFeatures(rawValue: 1 << 12)
    /// The service can tell its valid token without waiting and loading.
    public static let currentToken = ContractFeatures(rawValue: 1 << 13)
    /// A caller can demand a new token although the cached one is valid.
    public static let forcedRefresh = ContractFeatures(rawValue: 1 << 14)
    /// The service never gets a token without expiration: its server always sends `expires_in`.
    public static let tokensAlwaysExpire = ContractFeatures(rawValue: 1 << 15)

    /// The service can be made with a token of an earlier run: pass ``ContractFixture/initialToken`` to its
    /// initialiser.
    public static let initialToken = ContractFeatures(rawValue: 1 << 16)

    /// A load that is refused for good ends the session, although its token is valid: callers are refused until a
    /// sign-in.
    ///
    /// Without a valid token every service may do so, and needs no feature for it.
    public static let refusalEndsSession = ContractFeatures(rawValue: 1 << 17)
    /// A forced refresh that fails answers with the valid token that is cached, and not with the error.
    public static let failedRefreshKeepsToken = ContractFeatures(rawValue: 1 << 18)

    /// The names of the features, separated by commas.
    public var description: String {
        names([
            "expiry", "leeway", "refreshAhead", "invalidation", "signOut", "signIn", "cancellation", "asyncCallers",
            "deliveryQueue", "callbackLoader", "loaderRecognition", "loadDeadline", "events", "currentToken",
            "forcedRefresh", "tokensAlwaysExpire", "initialToken", "refusalEndsSession", "failedRefreshKeepsToken",
        ])
    }
}
