import TestSupport

/// An abstract concurrent program: what the judge enumerates and the explorer runs.
///
/// Every statement has a number. What a statement observes is written down under that number: two runs can be
/// compared without asking which task came first.
struct Program: Sendable, CustomStringConvertible {
    indirect enum Statement: Sendable {
        /// Calls an actor: appends to its log, and observes the log.
        case add(Int, actor: Int)
        /// The same, with a `Task.yield` inside the actor between two appends.
        case addTwice(Int, actor: Int)
        /// Appends on one actor, from there on another one, and again on the first.
        case pass(Int, from: Int, to: Int)
        /// A marked stretch that appends to a history that all can see, and observes it.
        case mark(Int)
        /// Starts an unstructured task.
        case spawn(Int, kind: TaskKind, [Statement])
        /// Awaits the task of that spawn, observing nothing.
        case await(spawn: Int)
        /// `async let`, what the parent does meanwhile, and then the `await`.
        case child(Int, [Statement], meanwhile: [Statement])
        /// `async let`, an actor call meanwhile, and the end of the scope, which cancels the child.
        case childLeft(Int, [Statement], actor: Int)
        /// A group of two children; observes which one ended first.
        case group(Int, [Statement], [Statement])
        /// Waits on a continuation that another task resumes, unless the gate is open already.
        case wait
        case open
        /// The same from inside of an actor, which appends before and after.
        case waitInside(Int, actor: Int)
        case openInside(Int, actor: Int)
        /// Cancels the task of that spawn.
        case cancel(spawn: Int)
        /// The same inside of an actor.
        case cancelInside(Int, spawn: Int, actor: Int)
        /// Observes `Task.isCancelled`.
        case look(Int)
        /// Observes whether the task of that spawn is cancelled.
        case lookAt(Int, spawn: Int)
        /// Leaves out the rest of its task if that is cancelled, and calls an actor if not.
        case guardAndAdd(Int, actor: Int)
        /// Calls an actor; a handler of cancellation is there meanwhile, which is a mark.
        case handle(Int, actor: Int)
        case yield
    }

    enum TaskKind: Sendable {
        case preferred, plain, detached
    }

    let operations: [[Statement]]
    var cancelsFirst = false
    /// Of the operations; of the tasks that they start as well.
    var priorities: [TaskPriority] = []

    static let actors = 2

    /// What a run comes to, to be compared: the logs of the actors, the marks, and what each statement has seen.
    static func outcome(logs: [[Int]], history: [Int], seen: [Int: [Int]]) -> String {
        let seen = seen.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        return "logs \(logs) history \(history) seen \(seen)"
    }

    var description: String {
        operations.map { "\($0)" }.joined(separator: "\n") + (cancelsFirst ? "\ncancelling the first" : "")
            + (priorities.isEmpty ? "" : "\npriorities \(priorities.map(\.rawValue))")
    }
}

extension Program {
    /// A program drawn at random: two or three operations with a few statements each.
    init(seed: UInt64) {
        var generator = Generator(seed: seed)
        let isLarge = generator.next(4) == 0
        operations = (0..<(isLarge ? 3 : 2)).map { _ in generator.statements(atMost: isLarge ? 2 : 3, depth: 0) }
        cancelsFirst = generator.next(6) == 0
    }

    private struct Generator {
        private var random: SeededGenerator
        private var number = 0
        /// There is one gate, which has one task that waits at it, and one that opens it.
        private var isWaitAllowed = true

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
        }

        mutating func next(_ bound: Int) -> Int {
            Int.random(in: 0..<bound, using: &random)
        }

        private mutating func actor() -> Int { next(Program.actors) }

        private mutating func newNumber() -> Int {
            number += 1
            return number
        }

        mutating func statements(atMost count: Int, depth: Int) -> [Statement] {
            var statements: [Statement] = []
            var spawned: [Int] = []
            for _ in 0...next(count) {
                let statement = statement(depth: depth, spawned: spawned)
                if case .spawn(let number, _, _) = statement { spawned.append(number) }
                if case .await(let number) = statement { spawned.removeAll { $0 == number } }
                statements.append(statement)
            }
            // Half of the tasks are awaited in the end; of the others only the effects count.
            for number in spawned where next(2) == 0 { statements.append(.await(spawn: number)) }
            return statements
        }

        private mutating func body(at depth: Int) -> [Statement] { statements(atMost: 1, depth: depth + 1) }

        private mutating func statement(depth: Int, spawned: [Int]) -> Statement {
            let isDeep = depth > 0
            if let last = spawned.last {
                switch next(8) {
                case 0, 1: return .await(spawn: last)
                case 2: return .cancel(spawn: last)
                case 3: return .cancelInside(newNumber(), spawn: last, actor: actor())
                case 4: return .lookAt(newNumber(), spawn: last)
                default: break
                }
            }
            switch next(isDeep ? 8 : 14) {
            case 1 where isDeep: return .handle(newNumber(), actor: actor())
            case 2 where isDeep: return .guardAndAdd(newNumber(), actor: actor())
            case 0, 1, 2: return .add(newNumber(), actor: actor())
            case 3: return .addTwice(newNumber(), actor: actor())
            case 4:
                let first = actor()
                return .pass(newNumber(), from: first, to: Program.actors - 1 - first)
            case 5: return .mark(newNumber())
            case 6: return .look(newNumber())
            case 7: return .yield
            case 8, 9, 10:
                let kind: TaskKind = [.preferred, .plain, .detached][next(3)]
                return .spawn(newNumber(), kind: kind, body(at: depth))
            case 11 where next(3) == 0:
                return .childLeft(newNumber(), body(at: depth), actor: actor())
            case 11:
                return .child(newNumber(), body(at: depth), meanwhile: body(at: depth))
            case 12:
                return .group(newNumber(), body(at: depth), body(at: depth))
            default:
                guard isWaitAllowed else { return .add(newNumber(), actor: actor()) }
                isWaitAllowed = false
                let number = newNumber()
                let opener: Statement = next(2) == 0 ? .open : .openInside(newNumber(), actor: actor())
                let waiter: Statement = next(2) == 0 ? .wait : .waitInside(newNumber(), actor: actor())
                return .child(number, [opener], meanwhile: [waiter])
            }
        }
    }
}

extension Program {
    /// A program of tasks with priorities, which calls actors and nothing else: who awaits a task lends it a priority.
    init(seedOfPriorities seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        var number = 0
        operations = (0..<(2 + next(2))).map { _ in
            (0...next(2)).map { _ in
                number += 1
                let actor = next(Program.actors)
                switch next(4) {
                case 0: return .addTwice(number, actor: actor)
                case 1: return .pass(number, from: actor, to: Program.actors - 1 - actor)
                default: return .add(number, actor: actor)
                }
            }
        }
        priorities = operations.map { _ in [.high, .medium, .low][next(3)] }
    }
}

/// Every program of two tasks with two phrases and one: a drawn program is seldom as small as the one that shows a bug.
extension Program {
    /// What a task may do, in a few statements whose numbers begin with the given one.
    static let phrases: [@Sendable (Int) -> [Statement]] = [
        { number in [.mark(number)] },
        { number in [.yield, .mark(number)] },
        { number in [.add(number, actor: 0)] },
        { number in [.add(number, actor: 1)] },
        { number in [.addTwice(number, actor: 0)] },
        { number in [.pass(number, from: 0, to: 1)] },
        { number in [.pass(number, from: 1, to: 0)] },
        { number in [.look(number)] },
        { number in [.guardAndAdd(number, actor: 1)] },
        { number in [.spawn(number, kind: .preferred, []), .await(spawn: number)] },
        { number in [.spawn(number, kind: .preferred, [.mark(number + 1)]), .await(spawn: number)] },
        { number in [.spawn(number, kind: .detached, [.add(number + 1, actor: 0)])] },
        { number in [.spawn(number, kind: .plain, [.yield]), .cancel(spawn: number)] },
        { number in
            [.spawn(number, kind: .plain, [.look(number + 1)]), .cancelInside(number + 2, spawn: number, actor: 0)]
        },
        { number in
            [
                .spawn(number, kind: .detached, [.guardAndAdd(number + 1, actor: 0)]), .cancel(spawn: number),
                .add(number + 2, actor: 0),
            ]
        },
        { number in
            [.spawn(number, kind: .plain, [.handle(number + 1, actor: 1)]), .cancel(spawn: number)]
        },
        { number in [.child(number, [.add(number + 1, actor: 0)], meanwhile: [])] },
        { number in [.child(number, [.mark(number + 1)], meanwhile: [.yield])] },
        { number in [.childLeft(number, [.look(number + 1)], actor: 0)] },
        { number in [.group(number, [], [.add(number + 1, actor: 0)])] },
        { number in [.group(number, [.mark(number + 1)], [.yield])] },
        { _ in [.yield] },
    ]

    static let smallCount = phrases.count * phrases.count * phrases.count

    /// The small program of this index.
    static func small(_ index: Int) -> Program {
        var rest = index
        let chosen = (0..<3).map { position in
            defer { rest /= phrases.count }
            return phrases[rest % phrases.count](1 + 3 * position)
        }
        return Program(operations: [chosen[0] + chosen[1], chosen[2]])
    }
}
