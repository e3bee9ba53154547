import InterleavingExplorer

/// Read, await, write back: the lost update.
@available(Executors, *)
enum Wallet {
    private static let title = "Two payments of 50 into one wallet"
    private static let invariant = "no payment is lost"

    static let exhibit = Exhibit(
        name: "wallet",
        title: title,
        story: """
            A payment reads the balance, awaits an audit, and writes the sum. The actor prevents a data race, and \
            money is lost all the same: the second payment reads the balance before the first payment has written \
            it. A global actor, such as the main actor, lets others in at its awaits in the same way.
            """,
        invariants: [invariant],
        versions: [
            Version(
                "write-back",
                "reads, awaits, writes back",
                of: Listing(.raceConditions, "pattern B: the lost update"),
                breaks: invariant,
                repair: "wallet await-first",
                scenario(WriteBackWallet.init) { await $0.add(50, audit: $1) }
            ),
            Version(
                "global-actor",
                "the same in a class on a global actor, as @MainActor is one",
                of: Listing(.raceConditions, "section 4: @MainActor does not address it"),
                breaks: invariant,
                repair: "wallet await-first",
                scenario(ScreenWallet.init) { await $0.add(50, audit: $1) }
            ),
            Version(
                "two-calls",
                "awaits first, then reads and writes in two calls of the actor",
                breaks: invariant,
                repair: "wallet transaction",
                scenario(MergingWallet.init) { wallet, audit in
                    await audit()
                    let before = await wallet.balance
                    await wallet.set(before + 50)
                }
            ),
            Version(
                "merge",
                "compares with its snapshot after the await, and merges",
                of: Listing(.raceConditions, "fix 2: snapshot, check again, merge"),
                scenario(MergingWallet.init) { await $0.add(50, audit: $1) }
            ),
            Version(
                "restart",
                "compares with its snapshot after the await, and starts again",
                of: Listing(.raceConditions, "fix 2: snapshot, check again, restart"),
                scenario(RestartingWallet.init) { await $0.add(50, audit: $1) }
            ),
            Version(
                "await-first",
                "awaits first, then reads and writes in one step",
                of: Listing(.raceConditions, "fix 2, the simpler form: add after the await"),
                scenario(AwaitFirstWallet.init) { await $0.add(50, audit: $1) }
            ),
            Version(
                "transaction",
                "awaits first, then hands the actor one synchronous closure",
                scenario(AwaitFirstWallet.init) { wallet, audit in
                    await audit()
                    await wallet.transaction { $0 += 50 }
                }
            ),
        ]
    )

    private static func scenario<Purse: HasBalance>(
        _ make: @escaping @Sendable () -> Purse,
        pay: @escaping @Sendable (Purse, @escaping Audit) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let wallet = make()
            for name in ["first", "second"] {
                run.operation(name) { await pay(wallet) { await run.pause("audited") } }
            }
            run.invariant(invariant) { await wallet.balance == 100 }
        }
    }
}

@available(Executors, *)
typealias Audit = @Sendable () async -> Void

@available(Executors, *)
private protocol HasBalance: AnyObject, Sendable {
    var balance: Int { get async }
}

@available(Executors, *)
private actor WriteBackWallet: HasBalance {
    private(set) var balance = 0

    func add(_ amount: Int, audit: Audit) async {
        let current = balance
        note("reads \(current)")
        await audit()
        balance = current + amount
        note("writes \(balance)")
    }
}

/// Stands for the main actor, which the explorer does not control.
@available(Executors, *)
@globalActor
actor ScreenActor {
    static let shared = ScreenActor()
}

@available(Executors, *)
@ScreenActor
private final class ScreenWallet: HasBalance {
    private(set) var balance = 0

    nonisolated init() {}

    func add(_ amount: Int, audit: Audit) async {
        let current = balance
        await audit()
        balance = current + amount
    }
}

/// Merging is right for operations whose order does not matter, such as a sum, a union or a maximum.
@available(Executors, *)
private actor MergingWallet: HasBalance {
    private(set) var balance = 0

    func add(_ amount: Int, audit: Audit) async {
        let snapshot = balance
        await audit()
        if balance == snapshot {
            balance = snapshot + amount
        } else {
            balance += amount
        }
    }

    func set(_ balance: Int) {
        self.balance = balance
        note("writes \(balance)")
    }
}

@available(Executors, *)
private actor RestartingWallet: HasBalance {
    private(set) var balance = 0

    func add(_ amount: Int, audit: Audit) async {
        var snapshot: Int
        repeat {
            snapshot = balance
            await audit()
        } while balance != snapshot
        balance = snapshot + amount
    }
}

@available(Executors, *)
private actor AwaitFirstWallet: HasBalance {
    private(set) var balance = 0

    func add(_ amount: Int, audit: Audit) async {
        await audit()
        balance += amount
    }

    /// A closure that cannot await leaves no gap between reading and writing.
    func transaction(_ change: @Sendable (inout Int) -> Void) {
        change(&balance)
    }
}
