/// What is known of a subject before a run, which decides what its steps are and which schedules may be left out.
///
/// It only grows, see ``Exploration/searchInOrder(atMost:withShortcuts:)``.
@available(Executors, *)
struct Knowledge: Equatable, Sendable {
    /// Whether schedules are left out that can show nothing new.
    let reduces: Bool
    var steps: Schedule.Steps
    /// Whether the subject cancels tasks itself: any task may find itself cancelled.
    var watchesCancellation = false
    /// Whether a task sets a timer that fires only if the last operation has not ended: that end is worth a choice.
    var watchesLastEnd = false
    /// The places at which a step must not be held, since it has a lock there that others need.
    var lockSites: Set<Int> = []
}
