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
        { number in [.lookAndAdd(number, actor: 1)] },
        { number in [.spawn(number, kind: .preferred, []), .await(spawn: number)] },
        { number in [.spawn(number, kind: .preferred, [.mark(number + 1)]), .await(spawn: number)] },
        { number in [.spawn(number, kind: .detached, [.add(number + 1, actor: 0)])] },
        { number in [.spawn(number, kind: .plain, [.yield]), .cancel(spawn: number)] },
        { number in
            [.spawn(number, kind: .plain, [.look(number + 1)]), .cancelInside(number + 2, spawn: number, actor: 0)]
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
        return Program(operations: [chosen[0] + chosen[1], chosen[2]], numbers: 9, cancelsFirst: false)
    }
}
