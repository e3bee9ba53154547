import InterleavingExplorer

/// A withdrawal that is told when the state has changed during its await, and how it finds that out.
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
                "ignores-changes",
                "pays if the balance is enough",
                breaks: invariant,
                repair: "state-changed version",
                scenario { Revalidate(approve: $0) }
            ),
            Version(
                "snapshot-equality",
                "compares the balance with the one that it saw",
                of: Listing(.strategies, "strategy 4: a balance that changes and changes back"),
                breaks: invariant,
                repair: "state-changed version",
                scenario { SnapshotAccount(approve: $0) }
            ),
            Version(
                "version",
                "compares the version of the state",
                of: Listing(.strategies, "strategy 6: a version, and a balance that changes back"),
                scenario { VersionedAccount(approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping Approval) -> any TransferAccount
    ) -> Scenario {
        Scenario(title) { run in
            let account = open {
                effect("asks for approval")
                await run.pause("approved")
            }
            let withdrawal = run.operation("withdrawal") {
                try await account.withdraw(80, untilStateIsUnchanged: true)
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

    /// Whether the balance stayed as it was from the last request for approval to the payment: the accounts mark each change.
    private static func approvesItsState(_ effects: [String]) -> Bool {
        guard let asked = effects.lastIndex(of: "asks for approval") else { return true }
        return ["balance 20", "balance 70"].contains(effects.dropFirst(asked + 1).first)
    }
}
