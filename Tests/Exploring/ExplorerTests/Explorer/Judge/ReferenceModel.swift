/// The independent judge: enumerates all orders of a program by the rules of the language, without any explorer.
///
/// A task is a list of small instructions. One instruction of one task is one step, and any task that is not blocked
/// may be next. An actor lets one task in at a time, of those that wait the one of the highest priority, and of these
/// the one that asked first. A task that calls another actor asks there before it leaves. States that were seen before
/// are not entered again.
struct ReferenceModel {
    private enum Instruction {
        /// Asks for an actor: enters the line before it.
        case ask(Int)
        /// Is let in, and does everything: no other code can tell when inside what happened.
        case visit(Int, [Inside], then: Leaving)
        case mark(Int)
        case start(Int, isChild: Bool)
        case join(Int)
        case collect(Int, children: [Int], count: Int)
        case register
        case resumed
        /// Leaves the actor, unless it was resumed before.
        case suspend(Int)
        /// Asks for the actor again when it is resumed, if it has left.
        case askAgain(Int)
        case open
        case resume
        case cancel(Int)
        case look(Int)
        case lookAt(Int, task: Int)
        /// Goes on at an instruction if its task is cancelled.
        case leaveIfCancelled(goingOnAt: Int)
        /// A handler of cancellation begins, which is a mark, and ends.
        case handle(Int)
        case endHandling
    }

    private enum Inside {
        case append(Int)
        case observe(Int)
        case cancel(Int)
    }

    private enum Leaving {
        case leave
        case stay
        case ask(Int)
    }

    private struct TaskState: Hashable {
        var next = 0
        var hasStarted = false
        var isCancelled = false
        var isOver = false
        /// The marks that its handlers of cancellation are.
        var handlers: [Int] = []
    }

    private struct Gate: Hashable {
        var isOpen = false
        /// Whether a task waits at it, was taken from it, and was resumed.
        var isRegistered = false
        var isTaken = false
        var isResumed = false
        /// Whether the one that waits has left its actor.
        var hasLeft = false
    }

    private struct State: Hashable {
        var tasks: [TaskState]
        var owners: [Int?] = Array(repeating: nil, count: Program.actors)
        var queues: [[Int]] = Array(repeating: [], count: Program.actors)
        var logs: [[Int]] = Array(repeating: [], count: Program.actors)
        var gate = Gate()
        var history: [Int] = []
        /// By the number of the statement.
        var seen: [Int: [Int]] = [:]
        /// The children of a group that have ended, in that order, by the number of the group.
        var ended: [Int: [Int]] = [:]
    }

    private var code: [[Instruction]] = []
    /// The parent of a child task, which it inherits cancellation from.
    private var parents: [Int?] = []
    private var groups: [Int?] = []
    private var indexOfSpawn: [Int: Int] = [:]
    private let operations: Int
    private let cancelsFirst: Bool
    /// Of the operations, if they have different ones.
    private let priorities: [UInt8]

    init(_ program: Program) {
        operations = program.operations.count
        cancelsFirst = program.cancelsFirst
        priorities = program.priorities.map(\.rawValue)
        for _ in program.operations { _ = newTask() }
        for (index, statements) in program.operations.enumerated() { compile(statements, into: index) }
        if cancelsFirst { code[newTask()] = [.cancel(0)] }
    }

    // MARK: From statements to instructions

    private mutating func newTask(parent: Int? = nil, group: Int? = nil) -> Int {
        code.append([])
        parents.append(parent)
        groups.append(group)
        return code.count - 1
    }

    /// A task that begins when `task` comes to this place.
    private mutating func start(_ body: [Program.Statement], from task: Int, isChild: Bool, group: Int? = nil) -> Int {
        let started = newTask(parent: isChild ? task : nil, group: group)
        compile(body, into: started)
        code[task].append(.start(started, isChild: isChild))
        return started
    }

    private mutating func compile(_ statements: [Program.Statement], into task: Int) {
        var looks: [Int] = []
        for statement in statements {
            if case .guardAndAdd = statement { looks.append(code[task].count) }
            let instructions = instructions(for: statement, of: task)
            code[task] += instructions
        }
        for look in looks { code[task][look] = .leaveIfCancelled(goingOnAt: code[task].count) }
    }

    private mutating func instructions(for statement: Program.Statement, of task: Int) -> [Instruction] {
        switch statement {
        case .add(let number, let actor):
            return call(actor, [.append(number), .observe(number)])
        case .addTwice(let number, let actor):
            return call(actor, [.append(number)]) + call(actor, [.append(number), .observe(number)])
        case .pass(let number, let first, let second):
            return [
                .ask(first), .visit(first, [.append(number)], then: .ask(second)),
                .visit(second, [.append(number), .observe(number)], then: .ask(first)),
                .visit(first, [.append(number), .observe(number)], then: .leave),
            ]
        case .mark(let number):
            return [.mark(number)]
        case .spawn(let number, _, let body):
            indexOfSpawn[number] = start(body, from: task, isChild: false)
            return []
        case .await(let number):
            return [.join(indexOfSpawn[number] ?? 0)]
        case .child(_, let body, let meanwhile):
            let child = start(body, from: task, isChild: true)
            compile(meanwhile, into: task)
            return [.join(child)]
        case .childLeft(let number, let body, let actor):
            let child = start(body, from: task, isChild: true)
            return call(actor, [.append(number), .observe(number)]) + [.cancel(child), .join(child)]
        case .group(let number, let first, let second):
            let children = [first, second].map { start($0, from: task, isChild: true, group: number) }
            return [1, 2].map { .collect(number, children: children, count: $0) }
        case .wait:
            return [.register, .resumed]
        case .open:
            return [.open, .resume]
        case .waitInside(let number, let actor):
            return [
                .ask(actor), .visit(actor, [.append(number)], then: .stay), .register, .suspend(actor),
                .askAgain(actor), .visit(actor, [.append(number), .observe(number)], then: .leave),
            ]
        case .openInside(let number, let actor):
            return [
                .ask(actor), .visit(actor, [.append(number)], then: .stay), .open, .resume,
                .visit(actor, [.append(number), .observe(number)], then: .leave),
            ]
        case .cancel(let number):
            return [.cancel(indexOfSpawn[number] ?? 0)]
        case .cancelInside(let number, let spawn, let actor):
            return call(actor, [.append(number), .cancel(indexOfSpawn[spawn] ?? 0), .observe(number)])
        case .look(let number):
            return [.look(number)]
        case .lookAt(let number, let spawn):
            return [.lookAt(number, task: indexOfSpawn[spawn] ?? 0)]
        case .guardAndAdd(let number, let actor):
            return [.leaveIfCancelled(goingOnAt: 0)] + call(actor, [.append(number), .observe(number)])
        case .handle(let number, let actor):
            return [.handle(number)] + call(actor, [.append(number), .observe(number)]) + [.endHandling]
        case .yield:
            return []
        }
    }

    private func call(_ actor: Int, _ inside: [Inside]) -> [Instruction] {
        [.ask(actor), .visit(actor, inside, then: .leave)]
    }

    // MARK: All orders

    /// What all runs of the program can come to; `nil` if there are too many states.
    func outcomes(atMost limit: Int) -> Set<String>? {
        var start = State(tasks: code.map { _ in TaskState() })
        for index in 0..<operations { start.tasks[index].hasStarted = true }
        if cancelsFirst { start.tasks[start.tasks.count - 1].hasStarted = true }
        advance(&start)
        var outcomes: Set<String> = []
        var visited: Set<State> = [start]
        var pending = [start]
        while let state = pending.popLast() {
            guard visited.count <= limit else { return nil }
            var isEnd = true
            for task in state.tasks.indices {
                guard var next = step(of: task, in: state) else { continue }
                isEnd = false
                advance(&next)
                if visited.insert(next).inserted { pending.append(next) }
            }
            if isEnd { outcomes.insert(outcome(of: state)) }
        }
        return outcomes
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
            if let group = groups[index] { state.ended[group, default: []].append(index) }
            return state
        }
        state.tasks[index].next += 1
        switch code[index][task.next] {
        case .ask(let actor): ask(actor, by: index, &state)
        case .visit(let actor, let inside, let leaving):
            if state.owners[actor] != index {
                guard state.owners[actor] == nil, let place = first(inLineOf: actor, state), place.task == index else {
                    return nil
                }
                state.queues[actor].remove(at: place.position)
                state.owners[actor] = index
            }
            act(inside, in: actor, &state)
            if case .ask(let next) = leaving { ask(next, by: index, &state) }
            if case .stay = leaving { break }
            state.owners[actor] = nil
        case .suspend(let actor):
            guard state.gate.isRegistered, !state.gate.isResumed else { break }
            state.gate.hasLeft = true
            state.owners[actor] = nil
        case .askAgain(let actor):
            guard state.gate.hasLeft else { break }
            guard state.gate.isResumed else { return nil }
            ask(actor, by: index, &state)
        case .mark(let number):
            mark(number, &state)
        case .start(let started, let isChild):
            state.tasks[started].hasStarted = true
            if isChild { state.tasks[started].isCancelled = task.isCancelled }
        case .join(let other):
            guard state.tasks[other].isOver else { return nil }
        case .collect(let number, let children, let count):
            guard let ended = state.ended[number], ended.count >= count else { return nil }
            state.seen[number, default: []].append(children.firstIndex(of: ended[count - 1]) ?? -1)
        case .register: state.gate.isRegistered = !state.gate.isOpen
        case .resumed:
            guard !state.gate.isRegistered || state.gate.isResumed else { return nil }
        case .open:
            state.gate.isOpen = true
            state.gate.isTaken = state.gate.isRegistered
        case .resume: state.gate.isResumed = state.gate.isTaken
        case .cancel(let other): cancel(other, &state)
        case .look(let number): state.seen[number] = [task.isCancelled ? 1 : 0]
        case .lookAt(let number, let other): state.seen[number] = [state.tasks[other].isCancelled ? 1 : 0]
        case .leaveIfCancelled(let next):
            if task.isCancelled { state.tasks[index].next = next }
        case .handle(let number):
            if task.isCancelled { mark(-number, &state) }
            state.tasks[index].handlers.append(number)
        case .endHandling: state.tasks[index].handlers.removeLast()
        }
        return state
    }

    private func act(_ actions: [Inside], in actor: Int, _ state: inout State) {
        for action in actions {
            switch action {
            case .append(let number): state.logs[actor].append(number)
            case .cancel(let task): cancel(task, &state)
            case .observe(let number): state.seen[number, default: []] += [-1] + state.logs[actor]
            }
        }
    }

    private func ask(_ actor: Int, by task: Int, _ state: inout State) {
        state.queues[actor].append(task)
    }

    /// Who is let in next: that is decided when the actor has time, not when somebody asks.
    private func first(inLineOf actor: Int, _ state: State) -> (position: Int, task: Int)? {
        state.queues[actor].enumerated().map { ($0.offset, $0.element) }.reduce(nil) { best, next in
            guard let best, priority(of: next.1) <= priority(of: best.task) else { return next }
            return best
        }
    }

    private func priority(of task: Int) -> UInt8 { task < priorities.count ? priorities[task] : 0 }

    private func mark(_ number: Int, _ state: inout State) {
        state.history.append(number)
        state.seen[number, default: []] += state.history
    }

    private func cancel(_ task: Int, _ state: inout State) {
        guard !state.tasks[task].isCancelled else { return }
        state.tasks[task].isCancelled = true
        for handler in state.tasks[task].handlers.reversed() { mark(-handler, &state) }
        // The children come last first, but for those of a group.
        let children = parents.indices.filter { parents[$0] == task && state.tasks[$0].hasStarted }
        let scopes = Dictionary(grouping: children) { groups[$0].map { -$0 } ?? $0 }.values.sorted { $0[0] > $1[0] }
        for child in scopes.joined() { cancel(child, &state) }
    }

    private func outcome(of state: State) -> String {
        let unfinished = state.tasks.prefix(operations).contains { !$0.isOver } ? " stuck" : ""
        return Program.outcome(logs: state.logs, history: state.history, seen: state.seen) + unfinished
    }
}
