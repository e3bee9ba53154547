import InterleavingExplorer

/// A withdrawal that must wait for an approval between the look at the balance and the payment.
enum BankAccount {
    private static let title = "Two withdrawals of 80 from an account of 100"

    static let exhibit = Exhibit(
        name: "bank-account",
        title: title,
        story: """
            A withdrawal looks at the balance, waits for an approval, and takes the money. The actor lets only one of \
            them run at a time, but at every await it lets in the next: what was seen before the await need not be \
            true after it. Each fix has a price: it turns callers away, makes them wait, or works twice.
            """,
        invariants: ["no overdraft", "one of the two is paid"],
        versions: [
            .faulty(
                "check-then-act",
                breaks: "no overdraft",
                "decides by what it saw before the await",
                scenario { CheckThenAct(approve: $0) }
            ),
            .fix("bounce", "turns away whoever comes meanwhile", scenario { Bounce(approve: $0) }),
            .fix("queue-and-await", "each waits for the one before", scenario { QueueAndAwait(approve: $0) }),
            .fix("optimistic", "takes first, gives back if refused", scenario { Optimistic(approve: $0) }),
            .fix("re-validate", "looks again after the await", scenario { Revalidate(approve: $0) }),
            .fix("compare-and-swap", "tries again if the version changed", scenario { CompareAndSwap(approve: $0) }),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping Approval) -> any Account
    ) -> Scenario {
        Scenario(title) { run in
            let account = open { await run.pause("approved") }
            let withdrawals = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    do {
                        try await account.withdraw(80)
                    } catch {
                        note("is refused: \(error)")
                        throw error
                    }
                }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
            run.invariant("one of the two is paid") {
                let paid = withdrawals.count { $0.error == nil }
                return await account.balance == 100 - 80 * paid && paid == 1
            }
        }
    }
}

/// An account that starts with 100.
protocol Account: Actor {
    var balance: Int { get }
    func withdraw(_ amount: Int) async throws
}

/// Somebody who is asked, and takes time to answer.
typealias Approval = @Sendable () async throws -> Void

enum Refusal: Error, CustomStringConvertible {
    case insufficientFunds
    case busy

    var description: String {
        switch self {
        case .insufficientFunds: "too little"
        case .busy: "busy"
        }
    }
}
