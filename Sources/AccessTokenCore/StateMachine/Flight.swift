import Foundation

/// The current load of a service: the only one that may answer, cache or fail anybody (clause S3).
struct Flight: Sendable {
    let id: FlightID
    let replacing: AccessToken?
    let startedAt: Date
    var priority: UInt8
    /// The loads inside which it runs, itself not among them.
    let enclosing: [LoadID]

    /// A good answer of an older flight of this session, kept in case that this one fails (clause T2).
    var late: CachedToken?
}

/// Says whose load an answer, a deadline or a repeated answer belongs to.
package struct FlightID: Equatable, Sendable {
    /// Changes at sign-in and sign-out, so that nothing of an older session can touch a newer one.
    package let sessionEpoch: Int

    /// Counts the loads of a service from 1; a greater one is a newer one.
    package let number: Int
}
