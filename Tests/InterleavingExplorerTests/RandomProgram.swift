import InterleavingExplorer

/// An actor that shows in which order it was entered.
actor Cell {
    private(set) var text = ""

    func add(_ more: String) -> String {
        text += more
        return text
    }

    func addTwice(_ more: String) async -> String {
        text += more
        await Task.yield()
        text += more
        return text
    }

    func pass(_ more: String, on other: Cell) async -> String {
        text += more
        return text + "|" + (await other.add(more))
    }
}

/// A few operations, each with a few actions on shared actors, a shared effect list and a shared clock.
struct RandomProgram: Sendable, CustomStringConvertible {
    enum Action: Int, CaseIterable, Sendable {
        case add, addTwice, addElsewhere, pass, pause, yield, effect, sleep, task, race, cancelled
    }

    let operations: [[Action]]
    let cancelsFirst: Bool

    init(seed: UInt64) {
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var operations: [[Action]] = []
        for _ in 0..<2 {
            operations.append((0...next(3)).map { _ in Action.allCases[next(Action.allCases.count)] })
        }
        self.operations = operations
        cancelsFirst = next(3) == 0
    }

    var description: String {
        operations.map { "\($0)" }.joined(separator: " ") + (cancelsFirst ? " cancelling" : "")
    }

    var script: ReductionTests.Script {
        { run, journal in
            let (cell, other) = (Cell(), Cell())
            var handles: [ScenarioOperation<Void>] = []
            for (index, actions) in operations.enumerated() {
                let name = String(index)
                handles.append(
                    run.operation(name, mayThrow: true) {
                        for action in actions {
                            let seen = try await perform(action, name, run, cell, other)
                            journal.add("\(name): \(seen)")
                        }
                    }
                )
            }
            if cancelsFirst {
                run.step(cancelling: handles[0])
            }
        }
    }

    private func perform(
        _ action: Action,
        _ name: String,
        _ run: ScenarioRun,
        _ cell: Cell,
        _ other: Cell
    ) async throws -> String {
        switch action {
        case .add: return await cell.add(name)
        case .addTwice: return await cell.addTwice(name)
        case .addElsewhere: return await other.add(name)
        case .pass: return await cell.pass(name, on: other)
        case .pause: await run.pause(name)
        case .yield: await Task.yield()
        case .effect:
            run.effect(name)
            return run.effects.joined()
        case .sleep:
            try await run.clock.sleep(for: .seconds(1))
            return "\(run.clock.now.offset.components.seconds)"
        case .task:
            return await Task(executorPreference: run.executor) { await cell.add(name + "t") }.value
        case .race:
            return await withTaskGroup(of: String.self) { group in
                group.addTask { "x" }
                group.addTask { await other.add("y") }
                return await group.reduce("", +)
            }
        case .cancelled: return "\(Task.isCancelled)"
        }
        return ""
    }
}
