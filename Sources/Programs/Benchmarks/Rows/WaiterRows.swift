import AccessTokenAsync
import AccessTokenGCD

/// The cost of each of N waiters on one load.
enum WaiterRows {
    static func all(isQuick: Bool) -> [Comparison] {
        let sizes = isQuick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000, 1_000_000]
        return sizes.map { oneThread($0, isQuick) } + sizes.map { pool($0, isQuick) }
            + [100, 1_000, 10_000].map { mainActor($0, isQuick) }
            + sizes.map { callbacks($0, isQuick) } + sizes.dropLast(isQuick ? 0 : 1).map { cancelled($0, isQuick) }
    }

    /// Chosen so that few waiters take about as long as many.
    private static func rounds(_ count: Int, _ isQuick: Bool) -> Int {
        switch count {
        case ..<1_000: isQuick ? 21 : 201
        case ..<10_000: isQuick ? 11 : 51
        case ..<100_000: isQuick ? 3 : 11
        case ..<1_000_000: 5
        default: 3
        }
    }

    private static func oneThread(_ count: Int, _ isQuick: Bool) -> Comparison {
        let base = SharedTaskDesign.name
        var contenders = [
            Contender(base) { AsyncWaiters.onOneThread(SharedTaskDesign.self, count: count) },
            Contender(ServiceDesign.name) { AsyncWaiters.onOneThread(ServiceDesign.self, count: count) },
        ]
        if count <= 1_000 {
            contenders.append(
                Contender(ContinuationDesign.name) { AsyncWaiters.onOneThread(ContinuationDesign.self, count: count) }
            )
        }
        // With more waiters this contender takes longer than all the others together.
        if count <= 10_000 {
            contenders.append(
                Contender(DictionaryDesign.name) { AsyncWaiters.onOneThread(DictionaryDesign.self, count: count) }
            )
        }
        var goals = [Goal.time(of: ServiceDesign.name, to: base, atMost: 2.2)]
        if count == 100_000 { goals.append(.bytes(of: ServiceDesign.name, to: base, atMost: 1.05)) }
        return Comparison(
            row: count == 100_000 ? "g, j" : "g",
            title: "async waiter, one thread",
            count: count,
            rounds: rounds(count, isQuick),
            contenders: contenders,
            goals: goals
        )
    }

    private static func pool(_ count: Int, _ isQuick: Bool) -> Comparison {
        Comparison(
            row: "g",
            title: "async waiter, global pool",
            count: count,
            rounds: rounds(count, isQuick),
            contenders: [
                Contender(SharedTaskDesign.name) { AsyncWaiters.onPool(SharedTaskDesign.self, count: count) },
                Contender(ServiceDesign.name) { AsyncWaiters.onPool(ServiceDesign.self, count: count) },
            ],
            goals: [.time(of: ServiceDesign.name, to: SharedTaskDesign.name, atMost: 2.2)]
        )
    }

    private static func mainActor(_ count: Int, _ isQuick: Bool) -> Comparison {
        Comparison(
            row: "g",
            title: "async waiter, main actor",
            count: count,
            rounds: rounds(count, isQuick),
            contenders: [
                Contender(SharedTaskDesign.name) {
                    await AsyncWaiters.onMainActor(SharedTaskDesign.self, count: count)
                },
                Contender(ServiceDesign.name) { await AsyncWaiters.onMainActor(ServiceDesign.self, count: count) },
            ],
            goals: [.time(of: ServiceDesign.name, to: SharedTaskDesign.name, atMost: 2.2)]
        )
    }

    private static func callbacks(_ count: Int, _ isQuick: Bool) -> Comparison {
        var goals = [
            Goal.time(of: QueueServiceDesign.name, to: SundellDesign.name, atMost: 1)
        ]
        if count == 100_000 {
            goals.append(.bytes(of: QueueServiceDesign.name, to: SundellDesign.name, atMost: 1))
        }
        let contenders = [
            Contender(SharedTaskDesign.name) { AsyncWaiters.onOneThread(SharedTaskDesign.self, count: count) },
            Contender(HandlerArrayDesign.name) { CallbackWaiters.sample(HandlerArrayDesign.self, count: count) },
            Contender(SundellDesign.name) { CallbackWaiters.sample(SundellDesign.self, count: count) },
            Contender(QueueServiceDesign.name) { CallbackWaiters.sample(QueueServiceDesign.self, count: count) },
        ]
        return Comparison(
            row: count == 100_000 ? "h, j" : "h",
            title: "callback waiter",
            count: count,
            rounds: rounds(count, isQuick),
            contenders: contenders,
            goals: goals
        )
    }

    private static func cancelled(_ count: Int, _ isQuick: Bool) -> Comparison {
        Comparison(
            row: "l",
            title: "cancelling all waiters",
            count: count,
            rounds: rounds(count, isQuick),
            contenders: [
                Contender(SharedTaskDesign.name) { AsyncWaiters.onOneThread(SharedTaskDesign.self, count: count) },
                Contender(ServiceDesign.name) { AsyncWaiters.cancelled(ServiceDesign.self, count: count) },
            ]
        )
    }
}
