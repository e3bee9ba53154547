/// A segment of a run, as the search looks at it afterwards.
@available(Executors, *)
struct Event: Sendable {
    /// What a candidate is known by, see ``Candidate/Key``.
    let arrival: Int
    /// How many had become ready in the run when the segment began.
    let start: Int
    /// The choice that it followed from; `nil` if nothing else could run.
    let choice: Int?
    let footprint: Footprint
}

/// Two segments of a run that happened in one order, and could have happened in the other one.
@available(Executors, *)
struct Race {
    /// The choice before the first of the two.
    let choice: Int
    /// What could run there on the way to the other order; one of it is enough.
    let initials: [Int]
}

/// The races of a run: dynamic partial-order reduction with source sets (Abdulla, Aronis, Jonsson, Sagonas, 2014).
///
/// A segment happens before another one if it has made the other one ready, or if it comes first and conflicts with the other
/// one. A race is a conflict without anything in between. Only a race shows that another choice can matter.
@available(Executors, *)
struct Races {
    private var happenedBefore: [[UInt64]] = []
    private var masks: [Mask] = []
    private var creators: [Int?] = []
    private let events: [Event]

    /// A footprint in bits, one for each object of the run.
    private struct Mask {
        var writes: UInt64 = 0
        var touches: UInt64 = 0
        var isOpaque = false
        var isEmpty = true
        var followsPoint = false
        var isLateSuspension = false
        var endsSharedTask = false
        var wakesFromOutside = false

        /// Whether the order counts of this segment and a later one of the same run.
        ///
        /// Code that awaits a task that has ended leaves no trace of that. So the end of a task that others know conflicts with
        /// all that follows, also with what seems to have touched nothing; before the end, an `await` is seen.
        func conflicts(withLater other: Mask) -> Bool {
            if isOpaque && !other.isEmpty || other.isOpaque && !isEmpty { return true }
            if wakesFromOutside || endsSharedTask { return true }
            if isLateSuspension && other.followsPoint || followsPoint && other.isLateSuspension { return true }
            return writes & other.touches != 0 || other.writes & touches != 0
        }
    }

    private init(_ events: [Event]) {
        self.events = events
        var objects: [Footprint.Object] = []
        for event in events { masks.append(Self.mask(of: event.footprint, &objects)) }
        var creator: Int? = nil
        for event in events {
            creator = events.lastIndex { $0.start < event.arrival }
            creators.append(creator)
        }
    }

    /// The races whose second segment is not among the first ones.
    static func find(in events: [Event], from first: Int) -> [Race] {
        var races = Races(events)
        return races.find(from: first)
    }

    private mutating func find(from first: Int) -> [Race] {
        var races: [Race] = []
        let words = events.count / 64 + 1
        for later in events.indices {
            var before = [UInt64](repeating: 0, count: words)
            var racing: [Int] = []
            for earlier in stride(from: later - 1, through: 0, by: -1) {
                guard before[earlier / 64] & 1 << UInt64(earlier % 64) == 0 else { continue }
                let isCreator = creators[later] == earlier
                guard isCreator || masks[earlier].conflicts(withLater: masks[later]) else { continue }
                if !isCreator { racing.append(earlier) }
                for word in 0..<words { before[word] |= happenedBefore[earlier][word] }
                before[earlier / 64] |= 1 << UInt64(earlier % 64)
            }
            happenedBefore.append(before)
            guard later >= first else { continue }
            for earlier in racing {
                guard let choice = events[earlier].choice else { continue }
                races.append(Race(choice: choice, initials: initials(between: earlier, and: later)))
            }
        }
        return races
    }

    /// What does not depend on the first of the two, nor on anything else of that sort that is needed for the second.
    private func initials(between earlier: Int, and later: Int) -> [Int] {
        var others: [Int] = []
        var initials: [Int] = []
        for index in earlier + 1...later {
            guard index == later || !has(earlier, happenedBefore: index) else { continue }
            if !others.contains(where: { has($0, happenedBefore: index) }) { initials.append(events[index].arrival) }
            others.append(index)
        }
        return initials
    }

    private func has(_ earlier: Int, happenedBefore later: Int) -> Bool {
        happenedBefore[later][earlier / 64] & 1 << UInt64(earlier % 64) != 0
    }

    private static func mask(of footprint: Footprint, _ objects: inout [Footprint.Object]) -> Mask {
        func bits(_ footprint: [Footprint.Object]) -> UInt64 {
            var bits: UInt64 = 0
            for object in footprint {
                let known = objects.firstIndex(of: object)
                if known == nil { objects.append(object) }
                // With very many objects some share a bit, and are taken for one.
                bits |= 1 << UInt64(min(known ?? objects.count - 1, 63))
            }
            return bits
        }
        var mask = Mask()
        mask.writes = bits(footprint.writes)
        mask.touches = mask.writes | bits(footprint.reads) | bits(footprint.lineage)
        // Where there are marks there is state outside of actors, and what an actor's code reads there shows no mark.
        mask.isOpaque = footprint.isOpaque || footprint.writes.contains(.effects)
        mask.wakesFromOutside = footprint.wakesFromOutside
        mask.isEmpty = footprint.isEmpty
        if !mask.isEmpty {
            // Nothing tells either whether the segment asks for a child that has ended.
            mask.touches |= bits(footprint.lineage.map { Footprint.Object(kind: .children, ordinal: $0.ordinal) })
        }
        mask.followsPoint = footprint.followsPoint
        mask.isLateSuspension = footprint.isLateSuspension
        mask.endsSharedTask = footprint.endsSharedTask
        return mask
    }
}
