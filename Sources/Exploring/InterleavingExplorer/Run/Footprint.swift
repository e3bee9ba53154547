/// What a segment of code has touched that other tasks can notice.
///
/// Two segments are independent, in the sense of partial-order reduction, if neither has written what the other has
/// touched: then their order makes no difference.
@available(Executors, *)
struct Footprint: Sendable, Hashable {
    /// Ordinals in a run, one bit for each.
    ///
    /// From 63 on they share the last bit, and are taken for one.
    struct Ordinals: Sendable, Hashable {
        fileprivate var bits: UInt64 = 0

        mutating func insert(_ ordinal: Int) {
            bits |= 1 << UInt64(min(ordinal, 63))
        }

        mutating func merge(_ other: Ordinals) {
            bits |= other.bits
        }

        func contains(_ ordinal: Int) -> Bool {
            bits & 1 << UInt64(min(ordinal, 63)) != 0
        }
    }

    /// Objects of a run, by the ordinals of actors and of participants.
    struct Objects: Sendable, Hashable {
        var actors = Ordinals()
        /// Whether tasks have ended, and what they wait for.
        var tasks = Ordinals()
        /// Which children of tasks have ended, and in which order.
        var children = Ordinals()
        var cancellations = Ordinals()

        var isEmpty: Bool {
            actors.bits | tasks.bits | children.bits | cancellations.bits == 0
        }

        mutating func merge(_ other: Objects) {
            actors.merge(other.actors)
            tasks.merge(other.tasks)
            children.merge(other.children)
            cancellations.merge(other.cancellations)
        }
    }

    /// How many objects a run knew at a moment.
    ///
    /// Two runs with the same beginning agree on the ordinals of what was known then. Any two actors that came to be
    /// known later must be taken for the same one; a task that came later was started by the segment itself.
    struct Known: Sendable {
        fileprivate let laterActors: UInt64
        fileprivate let participants: UInt64

        /// All that a single run has come to know.
        static let all = Known(actors: .max, participants: .max)

        init(actors: Int, participants: Int) {
            func below(_ count: Int) -> UInt64 { count < 63 ? 1 << UInt64(count) - 1 : .max }
            laterActors = ~below(actors)
            // Those that share the last bit may be known.
            self.participants = below(participants) | 1 << 63
        }
    }

    /// Whether it may have touched anything: code of the scenario, a block, a timer.
    var isOpaque = false
    /// Whether it has touched what is marked, the clock or a queue.
    var touchesMarks = false
    /// Whether it is what followed a preemption point, where it may have resumed a continuation whose task was still
    /// about to suspend: that leaves no trace.
    var followsPoint = false
    /// Whether its task was about to suspend, held at a preemption point, and then did.
    var isLateSuspension = false
    /// Whether it ended a task that others than its parent may await or cancel.
    var endsSharedTask = false
    /// Whether it has resumed a task from outside of any actor: a later step might have done so as well, and then
    /// leaves no trace.
    var wakesFromOutside = false
    var writes = Objects()
    var reads = Objects()
    /// The tasks that ran, and those that started them: code may look anywhere whether one of them is cancelled.
    var lineage = Ordinals()

    /// Whether nothing is known to have been touched.
    var isUntouched: Bool { writes.isEmpty && reads.isEmpty && !touchesMarks }

    /// Whether nothing of it can be noticed.
    var isEmpty: Bool { isUntouched && !isOpaque }

    mutating func merge(_ other: Footprint) {
        isOpaque = isOpaque || other.isOpaque
        touchesMarks = touchesMarks || other.touchesMarks
        followsPoint = followsPoint || other.followsPoint
        isLateSuspension = isLateSuspension || other.isLateSuspension
        endsSharedTask = endsSharedTask || other.endsSharedTask
        wakesFromOutside = wakesFromOutside || other.wakesFromOutside
        writes.merge(other.writes)
        reads.merge(other.reads)
        lineage.merge(other.lineage)
    }

    /// Whether the order counts of this segment and a later one of the same run.
    ///
    /// Code that awaits a task that has ended leaves no trace of that. So the end of a task that others know races with
    /// all that follows, also with what seems to have touched nothing.
    func races(withLater later: Footprint) -> Bool {
        wakesFromOutside || endsSharedTask || conflicts(with: later, known: .all)
    }

    /// Whether a segment that sleeps, since it was tried before this one, must be tried again behind this one.
    ///
    /// Each of the two has run without the other before it. There an `await` of a task that the other one ends is seen.
    func wakes(_ sleeper: Asleep) -> Bool {
        let other = sleeper.footprint
        return wakesFromOutside || other.wakesFromOutside
            || endsSharedTask && !other.isEmpty || other.endsSharedTask && !isEmpty
            || conflicts(with: other, known: sleeper.known)
    }

    /// Whether one has touched what the other one has written; they are of runs that agree on what is known.
    private func conflicts(with other: Footprint, known: Known) -> Bool {
        if isLateSuspension && other.followsPoint || followsPoint && other.isLateSuspension { return true }
        if mayTouchAll && !other.isEmpty || other.mayTouchAll && !isEmpty { return true }
        return depends(on: other.writes, known) || other.depends(on: writes, known)
    }

    /// Where there are marks there is state outside of actors, and what an actor's code reads there shows no mark.
    private var mayTouchAll: Bool { isOpaque || touchesMarks }

    private func depends(on written: Objects, _ known: Known) -> Bool {
        let actors = writes.actors.bits | reads.actors.bits
        if actors & written.actors.bits != 0 { return true }
        if actors & known.laterActors != 0, written.actors.bits & known.laterActors != 0 { return true }
        let tasks = (writes.tasks.bits | reads.tasks.bits) & written.tasks.bits
        // Nothing tells either whether code asks for a child that has ended.
        let parents = isEmpty ? 0 : lineage.bits
        let children = (writes.children.bits | reads.children.bits | parents) & written.children.bits
        let cancellations =
            (writes.cancellations.bits | reads.cancellations.bits | lineage.bits) & written.cancellations.bits
        return (tasks | children | cancellations) & known.participants != 0
    }
}
