/// The independent judge: enumerates all orders of a program by the rules of the language, without any explorer.
///
/// A task is a list of small instructions. One instruction of one task is one step, and any task that is not blocked may
/// be next. An actor lets one task in at a time; others wait in the order in which they asked, and a task that calls
/// another actor asks there before it leaves. States that were seen before are not entered again.
struct ReferenceModel {
    /// What all runs of the program can come to; `nil` if there are too many states.
    static func outcomes(of program: Program, atMost limit: Int) -> Set<String>? {
        var model = ReferenceModel(program)
        return model.enumerate(atMost: limit) ? model.outcomes : nil
    }

    private enum Instruction {
        /// Asks for an actor: enters the line before it.
        case ask(Int)
        /// Is let in, does everything, and leaves: no other code can tell when inside what happened.
        case visit(Int, [Inside], then: Leaving)
        /// Is let in, does everything, and stays.
        case enter(Int, [Inside])
        case mark(Int)
        case start(Int, isChild: Bool)
        case join(Int)
        case collect(Int, children: [Int], count: Int)
        case register(Int)
        case resumed(Int)
        /// Leaves the actor, unless it was resumed before.
        case suspend(Int, gate: Int)
        /// Asks for the actor again when it is resumed, if it has left.
        case askAgain(Int, gate: Int)
        case open(Int)
        case resume(Int)
        case cancel(Int)
        case look(Int)
        /// Nothing comes between the look and asking for the actor.
        case lookAndAsk(Int, actor: Int)
    }

    private enum Inside {
        case append(Int)
        case observe(Int)
        case cancel(Int)
    }

    private enum Leaving {
        case leave
        case ask(Int)
    }

    private struct TaskState: Hashable {
        var next = 0
        var hasStarted = false
        var isCancelled = false
        var isOver = false
    }

    private struct State: Hashable {
        var tasks: [TaskState]
        var owners: [Int?]
        var queues: [[Int]]
        var logs: [[Int]]
        var history: [Int] = []
        /// By the number of the statement.
        var seen: [[Int]]
        /// The children of a group that have ended, in that order, by the number of the group.
        var ended: [[Int]]
        var isOpen: [Bool]
        /// Whether a task waits at a gate, was taken from it, and was resumed.
        var isRegistered: [Bool]
        var isTaken: [Bool]
        var isResumed: [Bool]
        /// Whether the one that waits has left its actor.
        var hasLeft: [Bool]
    }

    private var code: [[Instruction]] = []
    /// The parent of a child task, which it inherits cancellation from.
    private var parents: [Int?] = []
    private var groups: [Int?] = []
    private var indexOfSpawn: [Int: Int] = [:]
    private var outcomes: Set<String> = []
    private let operations: Int
    private let numbers: Int
    private let cancelsFirst: Bool

    private init(_ program: Program) {
        operations = program.operations.count
        cancelsFirst = program.cancelsFirst
        numbers = program.numbers
        for _ in program.operations { _ = newTask(parent: nil, group: nil) }
        for (index, statements) in program.operations.enumerated() { compile(statements, into: index) }
        if cancelsFirst {
            let canceller = newTask(parent: nil, group: nil)
            code[canceller] = [.cancel(0)]
        }
    }

    // MARK: From statements to instructions

    private mutating func newTask(parent: Int?, group: Int?) -> Int {
        code.append([])
        parents.append(parent)
        groups.append(group)
        return code.count - 1
    }

    private mutating func compile(_ statements: [Program.Statement], into task: Int) {
        for statement in statements {
            switch statement {
            case .add(let number, let actor):
                code[task] += [.ask(actor), .visit(actor, [.append(number), .observe(number)], then: .leave)]
            case .addTwice(let number, let actor):
                code[task] += [.ask(actor), .visit(actor, [.append(number)], then: .leave)]
                code[task] += [.ask(actor), .visit(actor, [.append(number), .observe(number)], then: .leave)]
            case .pass(let number, let first, let second):
                code[task] += [.ask(first), .visit(first, [.append(number)], then: .ask(second))]
                code[task].append(.visit(second, [.append(number), .observe(number)], then: .ask(first)))
                code[task].append(.visit(first, [.append(number), .observe(number)], then: .leave))
            case .loop(let number, let actor, let times):
                for _ in 0..<times {
                    code[task] += [.ask(actor), .visit(actor, [.append(number), .observe(number)], then: .leave)]
                }
            case .mark(let number): code[task].append(.mark(number))
            case .spawn(let number, _, let body):
                let started = newTask(parent: nil, group: nil)
                indexOfSpawn[number] = started
                compile(body, into: started)
                code[task].append(.start(started, isChild: false))
            case .await(let number): code[task].append(.join(indexOfSpawn[number] ?? 0))
            case .child(_, let body, let meanwhile):
                let child = newTask(parent: task, group: nil)
                compile(body, into: child)
                code[task].append(.start(child, isChild: true))
                compile(meanwhile, into: task)
                code[task].append(.join(child))
            case .childLeft(let number, let body, let actor):
                let child = newTask(parent: task, group: nil)
                compile(body, into: child)
                code[task].append(.start(child, isChild: true))
                code[task] += [.ask(actor), .visit(actor, [.append(number), .observe(number)], then: .leave)]
                code[task] += [.cancel(child), .join(child)]
            case .group(let number, let first, let second):
                let children = [newTask(parent: task, group: number), newTask(parent: task, group: number)]
                compile(first, into: children[0])
                compile(second, into: children[1])
                code[task] += children.map { .start($0, isChild: true) }
                code[task] += [1, 2].map { .collect(number, children: children, count: $0) }
            case .wait(let gate): code[task] += [.register(gate), .resumed(gate)]
            case .open(let gate): code[task] += [.open(gate), .resume(gate)]
            case .waitInside(let number, let actor, let gate):
                code[task] += [.ask(actor), .enter(actor, [.append(number)]), .register(gate)]
                code[task] += [.suspend(actor, gate: gate), .askAgain(actor, gate: gate)]
                code[task] += [.visit(actor, [.append(number), .observe(number)], then: .leave)]
            case .openInside(let number, let actor, let gate):
                code[task] += [.ask(actor), .enter(actor, [.append(number)]), .open(gate), .resume(gate)]
                code[task] += [.visit(actor, [.append(number), .observe(number)], then: .leave)]
            case .cancel(let number): code[task].append(.cancel(indexOfSpawn[number] ?? 0))
            case .cancelInside(let number, let spawn, let actor):
                let cancelled = indexOfSpawn[spawn] ?? 0
                code[task].append(.ask(actor))
                code[task].append(
                    .visit(actor, [.append(number), .cancel(cancelled), .observe(number)], then: .leave)
                )
            case .look(let number): code[task].append(.look(number))
            case .lookAndAdd(let number, let actor):
                code[task].append(.lookAndAsk(number, actor: actor))
                code[task].append(.visit(actor, [.append(number), .observe(number)], then: .leave))
            case .yield: break
            }
        }
    }

    // MARK: All orders

    private mutating func enumerate(atMost limit: Int) -> Bool {
        var start = State(
            tasks: code.map { _ in TaskState() },
            owners: Array(repeating: nil, count: Program.actors),
            queues: Array(repeating: [], count: Program.actors),
            logs: Array(repeating: [], count: Program.actors),
            seen: Array(repeating: [], count: numbers + 1),
            ended: Array(repeating: [], count: numbers + 1),
            isOpen: Array(repeating: false, count: Program.gates),
            isRegistered: Array(repeating: false, count: Program.gates),
            isTaken: Array(repeating: false, count: Program.gates),
            isResumed: Array(repeating: false, count: Program.gates),
            hasLeft: Array(repeating: false, count: Program.gates)
        )
        for index in 0..<operations { start.tasks[index].hasStarted = true }
        if cancelsFirst { start.tasks[start.tasks.count - 1].hasStarted = true }
        advance(&start)
        var visited: Set<State> = [start]
        var pending = [start]
        while let state = pending.popLast() {
            guard visited.count <= limit else { return false }
            var isEnd = true
            for task in state.tasks.indices {
                guard var next = step(of: task, in: state) else { continue }
                isEnd = false
                advance(&next)
                if visited.insert(next).inserted { pending.append(next) }
            }
            if isEnd { outcomes.insert(outcome(of: state)) }
        }
        return true
    }

    /// Does at once what has no visible moment: the end of a task, and the way past one that has ended.
    private func advance(_ state: inout State) {
        var hasAdvanced = true
        while hasAdvanced {
            hasAdvanced = false
            for index in state.tasks.indices where state.tasks[index].hasStarted && !state.tasks[index].isOver {
                let next = state.tasks[index].next
                if next == code[index].count, groups[index] == nil {
                    state.tasks[index].isOver = true
                    hasAdvanced = true
                } else if next < code[index].count, case .join(let other) = code[index][next], state.tasks[other].isOver
                {
                    state.tasks[index].next += 1
                    hasAdvanced = true
                }
            }
        }
    }

    private func step(of index: Int, in state: State) -> State? {
        let task = state.tasks[index]
        guard task.hasStarted, !task.isOver else { return nil }
        var state = state
        guard task.next < code[index].count else {
            state.tasks[index].isOver = true
            if let group = groups[index] { state.ended[group].append(index) }
            return state
        }
        state.tasks[index].next += 1
        switch code[index][task.next] {
        case .ask(let actor): ask(actor, by: index, &state)
        case .visit(let actor, let inside, let leaving):
            guard state.owners[actor] == index else { return nil }
            act(inside, in: actor, &state)
            if case .ask(let next) = leaving { ask(next, by: index, &state) }
            leave(actor, &state)
        case .enter(let actor, let inside):
            guard state.owners[actor] == index else { return nil }
            act(inside, in: actor, &state)
        case .suspend(let actor, let gate):
            guard state.isRegistered[gate], !state.isResumed[gate] else { break }
            state.hasLeft[gate] = true
            leave(actor, &state)
        case .askAgain(let actor, let gate):
            guard state.hasLeft[gate] else { break }
            guard state.isResumed[gate] else { return nil }
            ask(actor, by: index, &state)
        case .mark(let number):
            state.history.append(number)
            state.seen[number] = state.history
        case .start(let started, let isChild):
            state.tasks[started].hasStarted = true
            if isChild { state.tasks[started].isCancelled = task.isCancelled }
        case .join(let other):
            guard state.tasks[other].isOver else { return nil }
        case .collect(let number, let children, let count):
            let ended = state.ended[number]
            guard ended.count >= count else { return nil }
            state.seen[number].append(children.firstIndex(of: ended[count - 1]) ?? -1)
        case .register(let gate): state.isRegistered[gate] = !state.isOpen[gate]
        case .resumed(let gate):
            guard !state.isRegistered[gate] || state.isResumed[gate] else { return nil }
        case .open(let gate):
            state.isOpen[gate] = true
            state.isTaken[gate] = state.isRegistered[gate]
        case .resume(let gate): state.isResumed[gate] = state.isTaken[gate]
        case .cancel(let other): cancel(other, &state)
        case .look(let number): state.seen[number] = [task.isCancelled ? 1 : 0]
        case .lookAndAsk(let number, let actor):
            state.seen[number] = [task.isCancelled ? 1 : 0]
            ask(actor, by: index, &state)
        }
        return state
    }

    private func act(_ actions: [Inside], in actor: Int, _ state: inout State) {
        for action in actions {
            switch action {
            case .append(let number): state.logs[actor].append(number)
            case .cancel(let task): cancel(task, &state)
            case .observe(let number): state.seen[number] += [-1] + state.logs[actor]
            }
        }
    }

    private func ask(_ actor: Int, by task: Int, _ state: inout State) {
        if state.owners[actor] == nil {
            state.owners[actor] = task
        } else {
            state.queues[actor].append(task)
        }
    }

    private func leave(_ actor: Int, _ state: inout State) {
        state.owners[actor] = state.queues[actor].isEmpty ? nil : state.queues[actor].removeFirst()
    }

    private func cancel(_ task: Int, _ state: inout State) {
        state.tasks[task].isCancelled = true
        for child in parents.indices where parents[child] == task && state.tasks[child].hasStarted {
            cancel(child, &state)
        }
    }

    private func outcome(of state: State) -> String {
        let seen = state.seen.enumerated().filter { !$0.element.isEmpty }.map { "\($0.offset): \($0.element)" }
            .joined(separator: ", ")
        let unfinished = state.tasks.prefix(operations).contains { !$0.isOver } ? " stuck" : ""
        return "logs \(state.logs) history \(state.history) seen \(seen)\(unfinished)"
    }
}
