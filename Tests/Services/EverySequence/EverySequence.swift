import AccessTokenCore

/// Runs every sequence of inputs up to a length, depth first, on copies of the state machine and the specification.
///
/// What it leaves out, because another sequence says the same:
/// - of the waiters only the oldest and the newest are cancelled, of the answered callers only the last that waited;
/// - the clock moves forward only while a token can still expire by it, and only to the instants that matter;
/// - only the last answer is repeated, and deadlines pass only for the last two loads;
/// - of the tokens that are not the current one, only the one before it is rejected, the one that the load brings, and
///   the one that is kept aside.
///
/// An input is rare if by the contract it changes nothing, or if it sets the clock back. There are so many of them that
/// longer sequences are checked without: that something changed after all shows in the shorter ones.
struct EverySequence {
    let length: Int
    /// How many rare inputs a sequence may have.
    let rareInputs: Int
    let reportsEvents: Bool

    /// How many sequences were checked, the empty one not counted.
    private(set) var checked = 0
    private var path: [Input] = []

    init(length: Int, rareInputs: Int, reportsEvents: Bool) {
        self.length = length
        self.rareInputs = rareInputs
        self.reportsEvents = reportsEvents
    }

    /// Throws the first violation, with the sequence of inputs that leads to it.
    ///
    /// - Parameter opening: inputs that come first in every sequence, and do not count.
    mutating func check(after opening: [Input] = []) throws {
        var start = Node(
            driver: Driver(reportsEvents: reportsEvents),
            specification: SequenceModel(reportsEvents: reportsEvents)
        )
        for input in opening { _ = try step(&start, input) }
        try extend(start)
    }

    private struct Node {
        var driver: Driver
        var specification: SequenceModel
        var rareInputs = 0
        /// Failures, invalidations, sign-ins and sign-outs, expiries: what entitles to one more load each.
        var reasonsToLoad = 1
    }

    private mutating func extend(_ node: Node) throws {
        guard path.count < length else { return }
        for input in inputs(node) {
            var next = node
            path.append(input)
            defer { path.removeLast() }
            do {
                guard try step(&next, input) else { continue }
            } catch {
                throw Violation("\(error)\nafter \(path.map { "\($0)" }.joined(separator: ", "))")
            }
            checked += 1
            try extend(next)
        }
    }

    /// Returns false for a sequence that is left out.
    private func step(_ node: inout Node, _ input: Input) throws -> Bool {
        let before = node.specification.facts
        let held = before.held.last?.value
        let expected = node.specification.expect(input)
        let facts = node.specification.facts
        if facts == before || input == .clock(.back) {
            guard node.rareInputs < rareInputs else { return false }
            node.rareInputs += 1
        }
        let seen = try node.driver.perform(input, at: facts.now, held: held, session: facts.session)
        guard seen == expected else { throw Violation("expected \(expected)\nobserved \(seen)") }
        node.reasonsToLoad += reasonsToLoad(input)
        try checkInvariants(node, seen)
        return true
    }

    private func checkInvariants(_ node: Node, _ seen: Observation) throws {
        let driver = node.driver
        let waiting = driver.outcomes.indices.filter { driver.outcomes[$0] == nil }
        guard waiting.isEmpty || !driver.awaited.isEmpty else { throw Violation("callers \(waiting) wait for nothing") }
        guard driver.loadCount <= node.reasonsToLoad else {
            throw Violation("\(driver.loadCount) loads, but only \(node.reasonsToLoad) reasons")
        }
        let session = node.specification.facts.session
        var given = seen.answers.compactMap { if case .token(let value) = $0.outcome { value } else { nil } }
        if let published = seen.published { given.append(published.value) }
        for value in given {
            // A load may bring a value again that an older session had: then it is of both.
            let isOfSession = node.specification.sessionOfToken.contains { $0.value == value && $0.session == session }
            guard isOfSession else { throw Violation("token \(value) is of another session") }
        }
    }

    private func reasonsToLoad(_ input: Input) -> Int {
        switch input {
        case .finish(_, .failure), .finish(_, .expiredToken), .deadline, .invalidate, .signIn, .signInExpired,
            .signInWithoutToken, .signOut, .clock:
            1
        case .retrieve, .retrieveCancelled, .askByLoader, .cancel, .finish, .answerAgain: 0
        }
    }

    private func inputs(_ node: Node) -> [Input] {
        let (driver, specification) = (node.driver, node.specification)
        let facts = specification.facts
        var inputs: [Input] = [.retrieve, .retrieveCancelled, .signIn, .signInExpired, .signInWithoutToken, .signOut]
        if let oldest = facts.waiting.first { inputs.append(.cancel(caller: oldest)) }
        if let newest = facts.waiting.last, newest != facts.waiting.first { inputs.append(.cancel(caller: newest)) }
        if let answered = driver.lastAnsweredWaiter { inputs.append(.cancel(caller: answered)) }
        if let running = specification.running { inputs.append(.askByLoader(load: running.number)) }
        if let load = driver.silentLoads.first, load != specification.running?.number {
            inputs.append(.askByLoader(load: load))
        }
        for load in driver.silentLoads {
            inputs += [.finish(load: load, .token), .finish(load: load, .expiredToken), .finish(load: load, .failure)]
            if !facts.held.isEmpty { inputs.append(.finish(load: load, .sameToken)) }
            let asked = facts.loads[load - 1]
            if asked.session == facts.session, let replaced = asked.replacing, replaced != facts.held.last?.value {
                inputs.append(.finish(load: load, .replacedToken))
            }
        }
        if let load = driver.lastAnswered { inputs.append(.answerAgain(load: load)) }
        inputs += facts.loads.suffix(2).map { .deadline(load: $0.number) }
        if let current = specification.current { inputs.append(.invalidate(current.value)) }
        inputs.append(.invalidate(facts.held.dropLast().last?.value ?? "of nobody"))
        if let running = specification.running { inputs.append(.invalidate("T\(running.number)")) }
        if let late = facts.aside.last { inputs.append(.invalidate(late.value)) }
        if !specification.edges.isEmpty { inputs += [.clock(.nextEdge), .clock(.pastAll)] }
        if specification.running != nil || specification.current != nil { inputs.append(.clock(.back)) }
        return inputs
    }
}
