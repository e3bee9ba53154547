/// A session that a sign-out has ended, and that the loader has to forget.
package struct Forgetting: Sendable {
    /// The epoch that the sign-out began.
    package let sessionEpoch: Int

    /// Whether the loader has been told: it is told when no load of an ended session can store a credential any more.
    var isBegun = false
    /// Whether the loader has forgotten, or was silent for too long.
    var isOver = false

    /// What is called when this session and all that ended before it are forgotten.
    var done: [@Sendable () -> Void] = []
}
