extension Driver {
    /// What a run was like, as far as the search must know.
    struct Drive: Sendable {
        var frames: [Frame] = []
        /// What ran from point to point, in order.
        var events: [Event] = []
        var steps = 0
        /// Whether there were more candidates at some moment than a digit can tell apart.
        var isTruncated = false
        /// Whether the subject itself has cancelled a task.
        var hasSubjectCancelled = false
        /// Whether code in an actor has asked for an actor in the same stretch.
        var asksInsideActors = false
        /// Whether a lock of the subject has kept others from going on before something that they can notice.
        var isCutByLock = false
        /// The steps in which tasks have begun that did not come by.
        var missed: [MissedTasks] = []
        /// Whether the run was given up, mostly because it can show nothing new.
        var isPruned = false
        /// Whether it was given up because a step that was held had a lock that others needed.
        var hasCollided = false
        /// Whether the run has failed before everything had happened.
        var hasEndedEarly = false
        var fingerprint: UInt64 = 0xcbf2_9ce4_8422_2325

        /// Whether this run shows code for which asking for an actor and entering it have to be two steps.
        ///
        /// Where code in an actor asks for another one, the request itself can be too early or too late. Where the subject
        /// cancels tasks, a task may look whether it is cancelled before it asks, which is nothing that a footprint tells.
        var isToEnterActorsLater: Bool { asksInsideActors || hasSubjectCancelled }

        mutating func mix(_ value: Int) {
            fingerprint = (fingerprint ^ UInt64(truncatingIfNeeded: value)) &* 0x0000_0100_0000_01b3
        }
    }

    /// Tasks that have begun out of sight in a step, or meanwhile on another thread.
    struct MissedTasks: Sendable {
        let step: Int
        let ids: [UInt64]
    }
}
