public import Foundation

/// The current load of a service: the only one that may answer, cache or fail anybody (clause S3).
@usableFromInline
struct Flight: Sendable {
    @usableFromInline
    let id: FlightID
    @usableFromInline
    let replacing: AccessToken?
    @usableFromInline
    let startedAt: Date
    @usableFromInline
    var priority: UInt8
    /// The loads inside which it runs, itself not among them.
    let enclosing: [LoadID]

    /// A good answer of an older flight of this session, kept in case that this one fails (clause T2).
    @usableFromInline
    var late: CachedToken?
}

/// Says whose load an answer, a deadline or a repeated answer belongs to.
@usableFromInline
package struct FlightID: Hashable, Sendable {
    /// Changes at sign-in and sign-out, so that nothing of an older session can touch a newer one.
    @usableFromInline
    package let sessionEpoch: Int

    /// Counts the loads of a service from 1; a greater one is a newer one.
    @usableFromInline
    package let number: Int
}
