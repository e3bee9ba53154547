import InterleavingExplorer

@available(Executors, *)
enum StateChanged {
    private static let title = "A withdrawal that waits for an approval while 50 come in and go out again"
    private static let invariant = "an approval is used for the state that was approved"

    static let exhibit = Exhibit(
        name: "state-changed",
        title: title,
        story: """
            A withdrawal keeps the balance that it saw, awaits the approval, and answers `.stateChanged` if the \
            present balance is not equal. The caller tries again. Equality misses a balance that changed from A to B \
            and back to A. A version only grows, and misses nothing.
            """,
        invariants: [invariant, "the withdrawal is paid in the end"],
        versions: [
            Version(
                name: "snapshot-equality",
                summary: "compares the balance with the one that it saw",
                code: Code("Revalidate", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 4: a balance that changes and changes back")],
                fault: .breaks(invariant, repair: "state-changed version"),
                scenario: scenario { Revalidate() }
            ),
            Version(
                name: "version",
                summary: "compares the version of the state",
                code: Code("VersionedAccount", in: "BankAccount"),
                listings: [
                    Listing(article: .strategies, name: "strategy 6: a version, and a balance that changes back")
                ],
                scenario: scenario { VersionedAccount() }
            ),
        ]
    )

    private static func scenario(_ open: @escaping @Sendable () -> any TransferAccount) -> Scenario {
        Scenario(title) { run in
            let account = open()
            let withdrawal = run.operation("withdrawal") {
                try await account.withdrawUntilStateIsUnchanged(80) {
                    effect("asks for approval")
                    await run.pause("approved")
                }
            }
            run.operation("transfer") {
                await account.deposit(50)
                await run.pause("transfer goes on")
                await account.deposit(-50)
            }
            run.invariant(invariant) { approvesItsState(run.effects) }
            run.invariant("the withdrawal is paid in the end") { withdrawal.error == nil }
        }
    }

    /// Whether the balance stayed as it was from the last request for approval to the payment: the accounts mark each
    /// change.
    private static func approvesItsState(_ effects: [String]) -> Bool {
        guard let asked = effects.lastIndex(of: "asks for approval") else { return true }
        return ["balance 20", "balance 70"].contains(effects.dropFirst(asked + 1).first)
    }
}
