#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that a service knows between a sign-in and the next sign-in or sign-out.
struct Session: Sendable {
    /// The token that came last; it may have expired.
    var token: CachedToken?

    /// The token that the next one replaces; while there is one, there is no `token`.
    ///
    /// It was rejected, or it had expired when a load began.
    var outdated: CachedToken?

    /// The load that is running, and whose answer counts.
    var load: CurrentLoad?

    /// The number of the newest load that brought a token, also of one kept aside or rejected.
    var newestTokenLoad: Int {
        max(token?.load ?? 0, outdated?.load ?? 0, load?.late?.load ?? 0)
    }
}

/// The current load of a service: the only one that may answer, cache or fail anybody (clause S3).
struct CurrentLoad: Sendable {
    let id: LoadID
    let startedAt: Date
    var priority: UInt8
    /// The loads inside which it runs, itself not among them.
    let enclosing: [LoadID]

    /// A good answer of an older load of this session, kept in case that this one fails (clause T2).
    var late: CachedToken?
}
