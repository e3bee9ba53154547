import InterleavingExplorer

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
                name: "write-back",
                summary: "reads, awaits, writes back",
                listing: Listing(article: .raceConditions, name: "pattern B: the lost update"),
                fault: .breaks(invariant, repair: "wallet await-first"),
                scenario: scenario { WriteBackWallet() }
            ),
            Version(
                name: "global-actor",
                summary: "the same in a class on a global actor, as @MainActor is one",
                listing: Listing(article: .raceConditions, name: "section 4: @MainActor does not address it"),
                fault: .breaks(invariant, repair: "wallet await-first"),
                scenario: scenario { ScreenWallet() }
            ),
            Version(
                name: "merge",
                summary: "compares with its snapshot after the await, and merges",
                listing: Listing(article: .raceConditions, name: "fix 2: snapshot, check again, merge"),
                scenario: scenario { MergingWallet() }
            ),
            Version(
                name: "restart",
                summary: "compares with its snapshot after the await, and starts again",
                listing: Listing(article: .raceConditions, name: "fix 2: snapshot, check again, restart"),
                scenario: scenario { RestartingWallet() }
            ),
            Version(
                name: "await-first",
                summary: "awaits first, then reads and writes in one step",
                listing: Listing(article: .raceConditions, name: "fix 2, the simpler form: add after the await"),
                scenario: scenario { AwaitFirstWallet() }
            ),
        ]
    )

    private static func scenario(_ make: @escaping @Sendable () -> any Purse) -> Scenario {
        Scenario(title) { run in
            let wallet = make()
            for name in ["first", "second"] {
                run.operation(name) { await wallet.add(50) { await run.pause("audited") } }
            }
            run.invariant(invariant) { await wallet.balance == 100 }
        }
    }
}

typealias Audit = @Sendable () async -> Void

private protocol Purse: AnyObject, Sendable {
    var balance: Int { get async }
    func add(_ amount: Int, audit: Audit) async
}

private actor WriteBackWallet: Purse {
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
@globalActor
actor ScreenActor {
    static let shared = ScreenActor()
}

@ScreenActor
private final class ScreenWallet: Purse {
    private(set) var balance = 0

    nonisolated init() {}

    @ScreenActor
    func add(_ amount: Int, audit: Audit) async {
        let current = balance
        await audit()
        balance = current + amount
    }
}

/// Merging is right for operations whose order does not matter, such as a sum, a union or a maximum.
private actor MergingWallet: Purse {
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
}

private actor RestartingWallet: Purse {
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

private actor AwaitFirstWallet: Purse {
    private(set) var balance = 0

    func add(_ amount: Int, audit: Audit) async {
        await audit()
        balance += amount
    }
}
