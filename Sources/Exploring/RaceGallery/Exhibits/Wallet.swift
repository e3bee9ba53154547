import InterleavingExplorer

/// Read, await, write back: the lost update.
@available(Executors, *)
enum Wallet {
    private static let title = "Two payments of 50 into one wallet"

    static let exhibit = Exhibit(
        name: "wallet",
        title: title,
        story: """
            A payment reads the balance, awaits the exchange rate, and writes the sum. The actor prevents a data \
            race, and money is lost all the same: the second payment reads the balance before the first payment has \
            written it.
            """,
        invariants: ["no payment is lost"],
        versions: [
            .faulty(
                "write-back",
                breaks: "no payment is lost",
                "reads, awaits, writes back",
                scenario { wallet, rate in await wallet.payByWritingBack(50, rate: rate) }
            ),
            .wrongFix(
                "two-calls",
                breaks: "no payment is lost",
                "reads and writes in two calls of the actor",
                scenario { wallet, rate in
                    let rate = await rate()
                    let before = await wallet.balance
                    note("reads \(before)")
                    await wallet.set(before + 50 * rate)
                }
            ),
            .fix(
                "await-first",
                "awaits first, then reads and writes in one step",
                scenario { wallet, rate in await wallet.pay(50, rate: rate) }
            ),
            .fix(
                "transaction",
                "is handed to the actor as one synchronous closure",
                scenario { wallet, rate in
                    let rate = await rate()
                    await wallet.transaction { $0 += 50 * rate }
                }
            ),
        ]
    )

    private static func scenario(
        _ pay: @escaping @Sendable (WalletActor, @escaping Rate) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let wallet = WalletActor()
            for name in ["first", "second"] {
                run.operation(name) {
                    await pay(wallet) {
                        await run.pause("rate")
                        return 1
                    }
                }
            }
            run.invariant("no payment is lost") { await wallet.balance == 100 }
        }
    }
}

@available(Executors, *)
private typealias Rate = @Sendable () async -> Int

@available(Executors, *)
private actor WalletActor {
    private(set) var balance = 0

    func payByWritingBack(_ amount: Int, rate: Rate) async {
        let before = balance
        note("reads \(before)")
        let sum = await before + amount * rate()
        set(sum)
    }

    func pay(_ amount: Int, rate: Rate) async {
        let rate = await rate()
        balance += amount * rate
    }

    func set(_ balance: Int) {
        self.balance = balance
        note("writes \(balance)")
    }

    /// A closure that cannot await leaves no gap between reading and writing.
    func transaction(_ change: @Sendable (inout Int) -> Void) {
        change(&balance)
    }
}
