import AccessTokenFoundation

/// The only load whose answer may be cached, and may answer or fail anybody (clause S3).
struct CurrentLoad: Sendable {
    let load: Load
    let startedAt: Date
    /// It was started while the token that it replaces was valid (clause C5).
    var isAhead = false

    /// What was rejected since the load was started, and its loader was not told of.
    var rejected = RejectedTokens()

    /// A good answer of an older load of this session, kept in case that this one fails (clause T2).
    var late: CachedToken?
}
