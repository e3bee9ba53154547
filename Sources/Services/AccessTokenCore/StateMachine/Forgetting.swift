/// A session that a sign-out has ended, and that the loader has to forget.
package struct Forgetting: Sendable {
    /// The epoch that the sign-out began: what the loader has to forget belongs to older ones.
    package typealias ID = Int

    let id: ID

    /// Whether the loader is to be asked: it is when no load of an ended session can store a credential any more.
    var isStarted = false
    /// Whether the loader has forgotten, or was silent for too long.
    var isOver = false

    /// What is called when this session and all that ended before it are forgotten.
    var done: [@Sendable () -> Void] = []
}
