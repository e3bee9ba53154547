/// What a segment of code has touched that other tasks can notice.
///
/// Two segments are independent, in the sense of partial-order reduction, if neither has written what the other has
/// touched: then their order makes no difference. What is touched is known by its ordinal in the run, see ``Known``.
@available(Executors, *)
struct Footprint: Sendable {
    struct Object: Sendable, Hashable {
        enum Kind: Sendable {
            /// All that is marked, the clock and the queues included.
            case effects
            case actor
            /// Whether a task has ended, and what it waits for.
            case task
            /// Which children of a task have ended, and in which order.
            case children
            case cancellation
        }

        let kind: Kind
        let ordinal: Int

        static let effects = Object(kind: .effects, ordinal: 0)
    }

    /// How many objects a run knew at a moment.
    ///
    /// Two runs with the same beginning agree on the ordinals of what was known then. An actor that came to be known later
    /// may have another ordinal in each: any two such actors must be taken for the same one. A task that came
    /// to be known later was started by the segment itself, and is none of another segment's.
    struct Known: Sendable {
        let actors: Int
        let participants: Int

        func includes(_ object: Object) -> Bool {
            switch object.kind {
            case .effects: true
            case .actor: object.ordinal < actors
            case .task, .children, .cancellation: object.ordinal < participants
            }
        }
    }

    /// Whether it may have touched anything: code of the scenario, a block, a timer.
    var isOpaque = false
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
    private(set) var writes: [Object] = []
    private(set) var reads: [Object] = []
    /// The cancellation of the tasks that ran, which they may look at anywhere.
    private(set) var lineage: [Object] = []

    /// Whether anything is known to have been touched.
    var isUntouched: Bool {
        writes.isEmpty && reads.isEmpty
    }

    /// Whether nothing of it can be noticed.
    var isEmpty: Bool {
        !isOpaque && isUntouched
    }

    mutating func write(_ object: Object) {
        if !writes.contains(object) { writes.append(object) }
    }

    mutating func read(_ object: Object) {
        if !reads.contains(object) { reads.append(object) }
    }

    mutating func addLineage(_ participant: Int) {
        let object = Object(kind: .cancellation, ordinal: participant)
        if !lineage.contains(object) { lineage.append(object) }
    }

    mutating func merge(_ other: Footprint) {
        isOpaque = isOpaque || other.isOpaque
        followsPoint = followsPoint || other.followsPoint
        isLateSuspension = isLateSuspension || other.isLateSuspension
        endsSharedTask = endsSharedTask || other.endsSharedTask
        wakesFromOutside = wakesFromOutside || other.wakesFromOutside
        other.writes.forEach { write($0) }
        other.reads.forEach { read($0) }
        for object in other.lineage where !lineage.contains(object) { lineage.append(object) }
    }

    /// Whether the order of two segments counts for ``Races``, of which one may be from another run that agrees on what is
    /// known.
    ///
    /// Races are found by more than what two segments are seen to share. What sleeps has to wake by as much: a sleep set that
    /// takes an order for known that the races tell apart hides the races of that order.
    func mayRace(with other: Footprint, known: Known) -> Bool {
        if wakesFromOutside || other.wakesFromOutside { return true }
        func matters(_ footprint: Footprint) -> Bool {
            footprint.endsSharedTask || footprint.writes.contains(.effects)
        }
        if matters(self) && !other.isEmpty || matters(other) && !isEmpty { return true }
        func touchesChildren(of parents: [Object], _ footprint: Footprint) -> Bool {
            footprint.writes.contains { object in
                object.kind == .children && parents.contains { $0.ordinal == object.ordinal } && known.includes(object)
            }
        }
        if !isEmpty && touchesChildren(of: lineage, other) || !other.isEmpty && touchesChildren(of: other.lineage, self)
        {
            return true
        }
        return conflicts(with: other, known: known)
    }

    /// Whether the order of two segments may count, of which one may be from another run that agrees on what is known.
    func conflicts(with other: Footprint, known: Known) -> Bool {
        if (isOpaque && !other.isEmpty) || (other.isOpaque && !isEmpty) || (isLateSuspension && other.followsPoint)
            || (followsPoint && other.isLateSuspension)
        {
            return true
        }
        func overlap(_ left: [Object], _ right: [Object]) -> Bool {
            left.contains { object in
                right.contains { other in
                    object.kind == other.kind
                        && (object.ordinal == other.ordinal && (known.includes(object) || object.kind == .actor)
                            || object.kind == .actor && !known.includes(object) && !known.includes(other))
                }
            }
        }
        return overlap(writes, other.writes) || overlap(writes, other.reads) || overlap(reads, other.writes)
            || overlap(writes, other.lineage) || overlap(lineage, other.writes)
    }
}
