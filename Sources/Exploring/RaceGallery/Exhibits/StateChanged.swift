import InterleavingExplorer

/// A withdrawal that is told when the state has changed during its await, and how it finds that out.
@available(Executors, *)
enum StateChanged {
    private static let title = "A withdrawal that waits for an approval while 50 come in and go out again"

    static let exhibit = Exhibit(
        name: "state-changed",
        title: title,
        story: """
            The state is an immutable value. A withdrawal keeps the value that it saw, awaits the approval, and \
            answers `.stateChanged` if the present value is not equal. The caller tries again. Equality misses a \
            state that changed from A to B and back to A. A version only grows, and misses nothing.
            """,
        invariants: ["an approval is used for the state that was approved", "the withdrawal is paid in the end"],
        versions: [
            .faulty(
                "ignores-changes",
                breaks: "an approval is used for the state that was approved",
                "pays if the balance is enough",
                scenario(.none)
            ),
            .wrongFix(
                "snapshot-equality",
                breaks: "an approval is used for the state that was approved",
                "compares the state with the one that it saw",
                scenario(.equality)
            ),
            .fix("version", "compares the version of the state", scenario(.version)),
        ]
    )

    private static func scenario(_ comparison: SnapshotAccount.Comparison) -> Scenario {
        Scenario(title) { run in
            let account = SnapshotAccount(comparison)
            let withdrawal = run.operation("withdrawal") {
                var answer = SnapshotAccount.Answer.stateChanged
                while answer == .stateChanged {
                    answer = await account.withdraw(80) { await run.pause("approved") }
                }
                return answer
            }
            run.operation("transfer") {
                await account.change(by: 50)
                await run.pause("transfer goes on")
                await account.change(by: -50)
            }
            run.invariant("an approval is used for the state that was approved") { await !account.usedOldApproval }
            run.invariant("the withdrawal is paid in the end") { withdrawal.value == .paid }
        }
    }
}

@available(Executors, *)
private actor SnapshotAccount {
    enum Comparison: Sendable {
        case none
        case equality
        case version
    }

    enum Answer: Sendable {
        case paid
        case refused
        case stateChanged
    }

    struct State: Equatable, Sendable {
        let balance: Int
    }

    private(set) var usedOldApproval = false
    private var state = State(balance: 100) {
        didSet { version += 1 }
    }
    private var version = 0
    private let comparison: Comparison

    init(_ comparison: Comparison) {
        self.comparison = comparison
    }

    func change(by amount: Int) {
        state = State(balance: state.balance + amount)
        note("the balance is \(state.balance)")
    }

    func withdraw(_ amount: Int, approval: @Sendable () async -> Void) async -> Answer {
        let (seen, seenVersion) = (state, version)
        guard seen.balance >= amount else { return .refused }
        note("sees \(seen.balance)")
        await approval()
        let isUnchanged =
            switch comparison {
            case .none: state.balance >= amount
            case .equality: state == seen
            case .version: version == seenVersion
            }
        guard isUnchanged else {
            note("answers: state changed")
            return .stateChanged
        }
        usedOldApproval = version != seenVersion
        state = State(balance: state.balance - amount)
        note("pays")
        return .paid
    }
}
