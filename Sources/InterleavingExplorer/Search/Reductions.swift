/// Ways to leave out schedules that cannot differ from one that is tried.
///
/// They rest on this: code between two suspensions that enters no actor and marks no effect touches nothing
/// that another task can see. Where a subject keeps state behind a lock, an atomic or a queue of its own, uses
/// an `AsyncStream`, or cancels tasks that look whether they are cancelled, mark that with
/// ``ScenarioRun/effect(_:)``, or turn the reductions off. What goes through the run itself is known: the
/// clock, controlled queues, `step(cancelling:)`.
public struct Reductions: OptionSet, Sendable, Hashable {
    /// One bit for each reduction.
    public let rawValue: Int

    /// The set with these bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A task enters an actor in the step that asks for it, if that has touched nothing yet.
    public static let entersActorsAtOnce = Reductions(rawValue: 1)
    /// A step that only ends a task or puts it to sleep is not tried against its alternatives.
    public static let skipsSilentSteps = Reductions(rawValue: 2)

    /// Both reductions.
    public static let all: Reductions = [.entersActorsAtOnce, .skipsSilentSteps]
    /// Every hop a choice, every choice tried.
    public static let none: Reductions = []
}
