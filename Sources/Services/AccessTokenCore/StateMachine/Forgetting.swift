/// The forgetting of a session that a sign-out has ended, by the loader.
struct Forgetting: Sendable {
    enum Progress: Sendable {
        /// A load of an ended session could still store a credential: the loader forgets after it.
        case awaitsLoads
        /// The loader was asked.
        case isUnderWay
        /// The loader has forgotten, or was silent for too long; an earlier session is not forgotten yet.
        case isOver
    }

    /// The epoch that the sign-out began: what the loader has to forget belongs to older ones.
    let sessionEpoch: Int

    var progress = Progress.awaitsLoads

    /// What is called when this session and all that ended before it are forgotten.
    var done: [@Sendable () -> Void] = []
}
