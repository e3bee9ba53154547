import InterleavingExplorer

/// Callers that wait for their turn, and what they do when it comes.
enum Turns {
    private static let title = "Three withdrawals of 80 take turns, and the bank refuses the first"

    static let exhibit = Exhibit(
        name: "turns",
        title: title,
        story: """
            Queue and await is easy to write almost right. Callers that wait once for the one before them share \
            their turn with all who waited for the same one; those that take over its error fail without a try.
            """,
        invariants: ["no overdraft", "an error reaches nobody but its own caller"],
        versions: [
            .wrongFix(
                "waits-once",
                breaks: "no overdraft",
                "waits for whoever is under way, then goes on",
                scenario { WaitsOnce(approve: $0) }
            ),
            .wrongFix(
                "inherits-error",
                breaks: "an error reaches nobody but its own caller",
                "tries the one before: all wake to its error",
                scenario { Chain(inheritsErrors: true, approve: $0) }
            ),
            .fix(
                "waits-again",
                "looks in a loop whether it is free",
                scenario { WaitsAgain(approve: $0) }
            ),
            .fix(
                "chain",
                "each waits for the end of the one before",
                scenario { Chain(inheritsErrors: false, approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping NamedApproval) -> any TurnTaking
    ) -> Scenario {
        Scenario(title) { run in
            let account = open { name in
                await run.pause(name == "first" ? "refused" : "approved")
                if name == "first" {
                    throw RefusedByBank(name: name)
                }
            }
            let withdrawals = ["first", "second", "third"].map { name in
                run.operation(name, mayThrow: true) {
                    do {
                        try await account.withdraw(80, for: name)
                    } catch {
                        note("fails: \(error)")
                        throw error
                    }
                }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
            run.invariant("an error reaches nobody but its own caller") {
                withdrawals.allSatisfy { withdrawal in
                    (withdrawal.error as? RefusedByBank).map { $0.name == withdrawal.name } ?? true
                }
            }
        }
    }
}

private typealias NamedApproval = @Sendable (_ name: String) async throws -> Void

private struct RefusedByBank: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) refused" }
}

/// An account that starts with 100 and pays in turns.
private protocol TurnTaking: Actor {
    var balance: Int { get set }
    var approve: NamedApproval { get }
    func withdraw(_ amount: Int, for name: String) async throws
}

extension TurnTaking {
    /// What happens in a turn: right as long as there is only one at a time.
    fileprivate func pay(_ amount: Int, for name: String) async throws {
        guard balance >= amount else {
            note("finds too little")
            throw Refusal.insufficientFunds
        }
        note("sees \(balance): enough")
        try await approve(name)
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}

private actor WaitsOnce: TurnTaking {
    var balance = 100
    let approve: NamedApproval
    private var turn: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        if let turn {
            note("waits")
            _ = await turn.result
        }
        let mine = Task { try await pay(amount, for: name) }
        turn = mine
        try await mine.value
    }
}

private actor WaitsAgain: TurnTaking {
    var balance = 100
    let approve: NamedApproval
    private var turn: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        while let turn {
            note("waits")
            _ = await turn.result
        }
        let mine = Task {
            // The task ends its own turn; nobody else could know which turn it is.
            defer { turn = nil }
            try await pay(amount, for: name)
        }
        turn = mine
        try await mine.value
    }
}

private actor Chain: TurnTaking {
    var balance = 100
    let approve: NamedApproval
    private let inheritsErrors: Bool
    private var last: Task<Void, any Error>?

    init(inheritsErrors: Bool, approve: @escaping NamedApproval) {
        self.inheritsErrors = inheritsErrors
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        let turn = Task { [last] in
            if inheritsErrors {
                try await last?.value
            } else {
                _ = await last?.result
            }
            try await pay(amount, for: name)
        }
        last = turn
        try await turn.value
    }
}
