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
            money is lost all the same: the second payment reads the balance before the first payment has written it.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "write-back",
                summary: "reads, awaits, writes back",
                code: Code("WriteBackWallet", in: "Wallet"),
                listings: [Listing(article: .raceConditions, name: "pattern B: the lost update")],
                fault: .breaks(invariant, repair: "wallet await-first"),
                scenario: scenario { WriteBackWallet() }
            ),
            Version(
                name: "merge",
                summary: "compares with its snapshot after the await, and merges",
                code: Code("MergingWallet", in: "Wallet"),
                listings: [Listing(article: .raceConditions, name: "fix 2: snapshot, check again, merge")],
                scenario: scenario { MergingWallet() }
            ),
            Version(
                name: "restart",
                summary: "compares with its snapshot after the await, and starts again",
                code: Code("RestartingWallet", in: "Wallet"),
                listings: [Listing(article: .raceConditions, name: "fix 2: snapshot, check again, restart")],
                scenario: scenario { RestartingWallet() }
            ),
            Version(
                name: "await-first",
                summary: "awaits first, then reads and writes in one step",
                code: Code("AwaitFirstWallet", in: "Wallet"),
                listings: [Listing(article: .raceConditions, name: "fix 2, the simpler form: add after the await")],
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

private protocol Purse: Actor {
    var balance: Int { get }
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

/// Merging is right for commutative operations, whose order does not matter: a sum, a union, a maximum.
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
