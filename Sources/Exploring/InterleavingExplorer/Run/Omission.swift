/// Orders that a search leaves out although it was not cut: why, and what brings them in.
@available(Executors, *)
public struct Omission: Sendable, Hashable, CustomStringConvertible {
    /// The reason and what to do, as a clause behind “since”.
    public let description: String
    /// What permits it, in code.
    let permission: String

    private init(_ permission: String, _ description: String) {
        self.permission = "run.permit(.\(permission))"
        self.description = description
    }

    /// Inside of a lock that others need, and right behind it: a step that is held there would stop them.
    public static let heldLocks = Omission(
        "heldLocks",
        """
        a step could not be held where its code has a lock that others need, and went on to what they can notice; \
        mark the code that has the lock: run.effect("name") { … }; where locks nest, mark lock() and unlock() each
        """
    )

    /// Other beginnings of a task that an actor starts for itself, or of one that begins at once.
    public static let hiddenStarts = Omission(
        "hiddenStarts",
        """
        a task was started where the explorer cannot choose when it begins: a “Task { }” that begins on an actor, \
        or one that begins at once (“Task.immediate”, “addImmediateTask”); start it with “Task.detached”, or with \
        the run's executor
        """
    )

    /// The end of a `Task.sleep` that was cancelled each time before its time had come.
    public static let realSleeps = Omission(
        "realSleeps",
        """
        a task slept by a clock of the system (Task.sleep), and was cancelled before that had an end: no order was tried \
        in which the sleep ends by itself; let the task sleep by the run's clock
        """
    )

    /// Cancellations between a look at `Task.isCancelled` and what follows it, where the runtime does not show looks.
    ///
    /// On Linux each look is a point at which others may go on, and nothing of this kind is left out. On Apple's
    /// platforms, and in programs that are linked statically, looks do not show.
    public static let looksAtCancellation = Omission(
        "looksAtCancellation",
        """
        a task was cancelled, and this program does not show where code looks at Task.isCancelled: nothing was tried \
        right behind a look; mark each look: run.effect("looks") { Task.isCancelled }, and permit the rest
        """
    )
}
