/// Identifies one load of one service: answers, deadlines and callers inside a load carry it.
package struct LoadID: Hashable, Sendable {
    package let service: ServiceID

    /// Changes at sign-in and sign-out: nothing of an older session can touch a newer one.
    package let sessionEpoch: Int

    /// Counts the loads of a service from 1; a greater one is a newer one.
    package let number: Int
}
