/// Every order of the steps of a model, and the shortest way to what breaks.
struct FleetExploration {
    private(set) var states = 0
    /// What is broken, with the steps that lead there.
    private(set) var complaint: String?

    private struct Visit {
        /// `nil` once every step from here was taken.
        var model: FleetModel?
        let isOver: Bool
        let parent: Int
        let step: String
    }

    private var visits: [Visit] = []

    /// - Parameter limit: how many states are looked at, at most.
    init(_ model: FleetModel, limit: Int = .max) {
        var indices: [[UInt8]: Int] = [model.key: 0]
        /// From each state, where it leads without a further fault.
        var ways: [[Int]] = []
        visits = [Visit(model: model, isOver: false, parent: -1, step: "")]
        var next = 0
        while next < visits.count, states < limit, let model = visits[next].model {
            visits[next].model = nil
            states += 1
            if let broken = model.broken {
                complaint = "\(broken): \(path(to: next))"
                return
            }
            var leads: [Int] = []
            for (step, following) in model.steps() {
                let key = following.key
                let index = indices[key] ?? visits.count
                if index == visits.count {
                    indices[key] = index
                    visits.append(Visit(model: following, isOver: following.isOver, parent: next, step: step))
                }
                if following.faultsLeft == model.faultsLeft { leads.append(index) }
            }
            ways.append(leads)
            next += 1
        }
        guard next == visits.count else { return }
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
