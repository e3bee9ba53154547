/// The races of a run: dynamic partial-order reduction with source sets (Abdulla, Aronis, Jonsson, Sagonas, 2014).
///
/// A segment happens before another one if it has made the other one ready, or if it comes first and conflicts with the
/// other one. A race is a conflict without anything in between: the two could have happened in the other order. Only a
/// race shows that another choice can matter.
@available(Executors, *)
struct Races {
    private var happenedBefore: [[UInt64]] = []
    private let creators: [Int?]
    private let events: [Event]

    init(in events: [Event]) {
        self.events = events
        creators = events.map { event in events.lastIndex { $0.start < event.arrival } }
    }

    /// The races whose second segment is not among the first ones: the choice before the first segment, and what could
    /// run there on the way to the other order, of which one is enough.
    mutating func find(from first: Int) -> [(choice: Int, initials: [Int])] {
        var races: [(choice: Int, initials: [Int])] = []
        let words = events.count / 64 + 1
        for later in events.indices {
            var before = [UInt64](repeating: 0, count: words)
            var racing: [Int] = []
            for earlier in stride(from: later - 1, through: 0, by: -1) {
                guard before[earlier / 64] & 1 << UInt64(earlier % 64) == 0 else { continue }
                let isCreator = creators[later] == earlier
                guard isCreator || events[earlier].footprint.races(withLater: events[later].footprint) else { continue }
                if !isCreator { racing.append(earlier) }
                for word in 0..<words { before[word] |= happenedBefore[earlier][word] }
                before[earlier / 64] |= 1 << UInt64(earlier % 64)
            }
            happenedBefore.append(before)
            guard later >= first else { continue }
            for earlier in racing {
                guard let choice = events[earlier].choice else { continue }
                races.append((choice, initials(between: earlier, and: later)))
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
}
