import InterleavingExplorer

/// An optimistic withdrawal that is refused while a deposit comes in.
@available(Executors, *)
enum Rollback {
    private static let title = "A withdrawal that is refused while a deposit comes in"

    static let exhibit = Exhibit(
        name: "rollback",
        title: title,
        story: """
            The optimistic fix takes the money before the await, and rolls back if the approval is refused. The \
            balance from before the await is the wrong thing to restore: a deposit may have come meanwhile. The \
            withdrawal must undo only its own change.
            """,
        invariants: ["the deposit is still there"],
        versions: [
            .wrongFix(
                "snapshot",
                breaks: "the deposit is still there",
                "puts back the balance of before",
                scenario(.restoresSnapshot)
            ),
            .fix("compensation", "gives back the amount", scenario(.givesBack)),
            .fix("transaction-log", "takes its own entry out of a log of transactions", logged),
        ]
    )

    private static var logged: Scenario {
        Scenario(title) { run in
            let account = TransactionLog {
                await run.pause("refused")
                throw Refused()
            }
            run.operation("withdrawal", mayThrow: true) { try await account.withdraw(80) }
            run.operation("deposit") { await account.deposit(50) }
            run.invariant("the deposit is still there") { await account.balance == 150 }
        }
    }

    private static func scenario(_ rollback: RefundingAccount.Rollback) -> Scenario {
        Scenario(title) { run in
            let account = RefundingAccount(rollback)
            run.operation("withdrawal", mayThrow: true) {
                try await account.withdraw(80) {
                    await run.pause("refused")
                    throw Refused()
                }
            }
            run.operation("deposit") { await account.deposit(50) }
            run.invariant("the deposit is still there") { await account.balance == 150 }
        }
    }
}

@available(Executors, *)
private struct Refused: Error {}

@available(Executors, *)
private actor RefundingAccount {
    enum Rollback: Sendable {
        case restoresSnapshot
        case givesBack
    }

    private(set) var balance = 100
    private let rollback: Rollback

    init(_ rollback: Rollback) {
        self.rollback = rollback
    }

    func deposit(_ amount: Int) {
        balance += amount
        note("adds \(amount): \(balance)")
    }

    func withdraw(_ amount: Int, approval: Approval) async throws {
        let before = balance
        balance -= amount
        note("takes \(amount): \(balance)")
        do {
            try await approval()
        } catch {
            switch rollback {
            case .restoresSnapshot: balance = before
            case .givesBack: balance += amount
            }
            note("rolls back: \(balance)")
            throw error
        }
    }
}
