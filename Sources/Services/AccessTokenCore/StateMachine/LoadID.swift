/// One load of one service: whose an answer or a deadline is, and which load a caller is inside of.
package struct LoadID: Hashable, Sendable {
    package let service: ServiceID

    /// Changes at sign-in and sign-out: nothing of an older session can touch a newer one.
    package let sessionEpoch: Int

    /// Counts the loads of a service from 1; a greater one is a newer one.
    package let number: Int
}
