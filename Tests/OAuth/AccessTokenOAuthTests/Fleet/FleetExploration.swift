/// Every order of the steps of a model, and the shortest way to what breaks.
struct FleetExploration {
    private(set) var states = 0
    /// What is broken, with the steps that lead there.
    private(set) var complaint: String?

    private struct Visit {
        let isOver: Bool
        let parent: Int
        let step: String
    }

    private var visits: [Visit] = []

    init(_ model: FleetModel) {
        var indices: [[UInt8]: Int] = [model.key: 0]
        /// From each state, where it leads without a further fault.
        var ways: [[Int]] = []
        visits = [Visit(isOver: model.isOver, parent: -1, step: "")]
        // The states of the present depth, in the order of their indices.
        var models = [model]
        while !models.isEmpty {
            var next: [FleetModel] = []
            for model in models {
                let present = states
                states += 1
                if let broken = model.broken {
                    complaint = "\(broken): \(path(to: present))"
                    return
                }
                var leads: [Int] = []
                for (step, following) in model.steps() {
                    let key = following.key
                    let index = indices[key] ?? visits.count
                    if index == visits.count {
                        indices[key] = index
                        visits.append(Visit(isOver: following.isOver, parent: present, step: step))
                        next.append(following)
                    }
                    if following.faultsLeft == model.faultsLeft { leads.append(index) }
                }
                ways.append(leads)
            }
            models = next
        }
        if let stuck = firstStuck(ways) {
            complaint = "somebody never ends, or a row is held for ever: \(path(to: stuck))"
        }
        visits = []
    }

    /// The first state from which, without a further fault, the end cannot be reached.
    private func firstStuck(_ ways: [[Int]]) -> Int? {
        var back = [[Int]](repeating: [], count: ways.count)
        for (from, leads) in ways.enumerated() { for to in leads { back[to].append(from) } }
        var ends = visits.indices.filter { visits[$0].isOver }
        var reaches = [Bool](repeating: false, count: ways.count)
        for end in ends { reaches[end] = true }
        while let state = ends.popLast() {
            for former in back[state] where !reaches[former] {
                reaches[former] = true
                ends.append(former)
            }
        }
        return reaches.firstIndex(of: false)
    }

    private func path(to index: Int) -> String {
        var steps: [String] = []
        var index = index
        while index > 0 {
            steps.append(visits[index].step)
            index = visits[index].parent
        }
        return steps.reversed().joined(separator: "; ")
    }
}
