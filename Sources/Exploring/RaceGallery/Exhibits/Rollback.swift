import InterleavingExplorer

@available(Executors, *)
enum Rollback {
    private static let title = "A withdrawal that is refused while a deposit comes in"
    private static let invariant = "the deposit is still there"

    static let exhibit = Exhibit(
        name: "rollback",
        title: title,
        story: """
            The optimistic strategy takes the money before the await, and rolls back if the approval is refused. The \
            balance from before the await is the wrong thing to restore: a deposit may have come meanwhile. The \
            withdrawal must undo only its own change.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "restores-balance",
                summary: "puts back the balance of before",
                code: Code("RestoresBalance", in: "Rollback"),
                fault: .breaks(invariant, repair: "rollback transaction-log"),
                scenario: scenario { RestoresBalance() }
            ),
            Version(
                name: "transaction-log",
                summary: "gives back the amount that it has logged",
                code: Code("Optimistic", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 3: a failed validation is rolled back")],
                scenario: scenario { Optimistic() }
            ),
        ]
    )

    private static func scenario(_ open: @escaping @Sendable () -> any TransferAccount) -> Scenario {
        Scenario(title) { run in
            let account = open()
            run.operation("withdrawal", mayThrow: true) {
                try await account.withdraw(80) {
                    await run.pause("refused")
                    throw Refusal.refusedByBank
                }
            }
            run.operation("deposit") { await account.deposit(50) }
            run.invariant(invariant) { await account.balance == 150 }
        }
    }
}

private actor RestoresBalance: TransferAccount {
    private(set) var balance = 100

    func withdraw(_ amount: Int, approval: Approval) async throws {
        let before = balance
        balance -= amount
        note("takes \(amount): \(balance)")
        do {
            try await approval()
        } catch {
            balance = before
            note("rolls back: \(balance)")
            throw error
        }
    }

    func deposit(_ amount: Int) {
        balance += amount
        note("adds \(amount): \(balance)")
    }
}
