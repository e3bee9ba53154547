import InterleavingExplorer

@available(Executors, *)
enum BankAccount {
    private static let title = "Two withdrawals of 80 from an account of 100"

    static let exhibit = Exhibit(
        name: "bank-account",
        title: title,
        story: """
            A withdrawal reads the balance, awaits an approval, and takes the money. The actor runs one method at a \
            time, and lets others in at the await. The second withdrawal sees a balance that the first one is about \
            to take: both are paid, and the account is overdrawn. The strategies differ in what the second caller \
            gets, and in what it costs.
            """,
        invariants: ["no overdraft", "one of the two is paid"],
        versions: [
            Version(
                name: "check-then-act",
                summary: "decides by the balance from before the await",
                code: Code("CheckThenAct", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "the account without a strategy")],
                fault: .breaks("no overdraft", repair: "bank-account check-again"),
                scenario: scenario { CheckThenAct() }
            ),
            Version(
                name: "bounce",
                summary: "refuses other callers during a withdrawal",
                code: Code("Bounce", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 1: bounce")],
                scenario: scenario { Bounce() }
            ),
            Version(
                name: "queue-and-await",
                summary: "a lock of continuations: each waits for the one before",
                code: Code("QueueAndAwait", in: "ContinuationLock"),
                listings: [Listing(article: .strategies, name: "strategy 2: queue, with acquireLock and releaseLock")],
                scenario: scenario { QueueAndAwait() }
            ),
            Version(
                name: "optimistic",
                summary: "takes the money first and logs it, gives it back if refused",
                code: Code("Optimistic", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 3: optimistic, with a transaction log")],
                scenario: scenario { Optimistic() }
            ),
            Version(
                name: "re-validate",
                summary: "compares the balance, answers .stateChanged; the caller tries again",
                code: Code("Revalidate", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 4: compare the balance, answer stateChanged")],
                scenario: scenario { Revalidate() }
            ),
            Version(
                name: "check-again",
                summary: "checks the funds again after the await, and compares nothing",
                code: Code("CheckAgain", in: "BankAccount"),
                scenario: scenario { CheckAgain() }
            ),
            Version(
                name: "compare-and-swap",
                summary: "compares the version of an immutable state; the caller tries again",
                code: Code("VersionedAccount", in: "BankAccount"),
                listings: [Listing(article: .strategies, name: "strategy 6: immutable state with a version")],
                scenario: scenario { VersionedAccount() }
            ),
        ]
    )

    private static func scenario(_ open: @escaping @Sendable () -> any Account) -> Scenario {
        Scenario(title) { run in
            let account = open()
            let withdrawals = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    try await account.withdrawUntilStateIsUnchanged(80) { await run.pause("approved") }
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
    func withdraw(_ amount: Int, approval: Approval) async throws
}

extension Account {
    /// The caller's part: where the answer is `.stateChanged`, it tries again.
    nonisolated func withdrawUntilStateIsUnchanged(_ amount: Int, approval: Approval) async throws {
        while true {
            do {
                return try await withdraw(amount, approval: approval)
            } catch Refusal.stateChanged {
                note("is told that the state has changed")
            } catch {
                note("is refused: \(error)")
                throw error
            }
        }
    }
}

protocol TransferAccount: Account {
    func deposit(_ amount: Int)
}

/// The bank's answer to a withdrawal, which takes time.
typealias Approval = @Sendable () async throws -> Void

enum Refusal: Error {
    case insufficientFunds
    case operationInProgress
    case stateChanged
    case refusedByBank
}

actor CheckThenAct: Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int, approval: Approval) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        note("sees \(balance): enough")
        try await approval()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}

/// Refuses other callers during a withdrawal: for actions that a user can simply repeat.
///
/// The flag is checked and set in one step, before the first await.
actor Bounce: Account {
    private(set) var balance = 100
    private var isBusy = false

    func withdraw(_ amount: Int, approval: Approval) async throws {
        guard !isBusy else { throw Refusal.operationInProgress }
        isBusy = true
        defer { isBusy = false }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
        balance -= amount
    }
}

/// Takes the money before the await and logs it, and gives it back if the approval is refused or the account overdrawn.
///
/// It gives back the logged amount. Restoring the balance from before the await would undo what others did meanwhile.
actor Optimistic: TransferAccount {
    private(set) var balance = 100
    private var log: [Int: Int] = [:]
    private var lastID = 0

    func withdraw(_ amount: Int, approval: Approval) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        lastID += 1
        let id = lastID
        balance -= amount
        log[id] = amount
        defer { log[id] = nil }
        do {
            try await approval()
            guard balance >= 0 else { throw Refusal.insufficientFunds }
        } catch {
            balance += log[id] ?? 0
            throw error
        }
    }

    func deposit(_ amount: Int) {
        balance += amount
    }
}

/// Checks the funds again after the await: for callers that accept a late refusal.
///
/// There is no await between the second check and the payment.
actor CheckAgain: Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int, approval: Approval) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
    }
}

/// Compares the balance with the one that it saw, and answers `.stateChanged`; then it checks the funds again.
///
/// A balance that has changed and changed back passes for the same: see the exhibit `state-changed`.
actor Revalidate: TransferAccount {
    private(set) var balance = 100 {
        didSet { effect("balance \(balance)") }
    }

    func withdraw(_ amount: Int, approval: Approval) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        let seen = balance
        try await approval()
        guard balance == seen else { throw Refusal.stateChanged }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
    }

    func deposit(_ amount: Int) { balance += amount }
}

/// Replaces an immutable state, whose version grows with each change: each state can go into an audit trail.
actor VersionedAccount: TransferAccount {
    struct State: Sendable {
        let balance: Int
        let version: Int
    }

    private var state = State(balance: 100, version: 0) {
        didSet { effect("balance \(balance)") }
    }

    var balance: Int { state.balance }

    func withdraw(_ amount: Int, approval: Approval) async throws {
        let seen = state
        guard seen.balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
        guard state.version == seen.version else { throw Refusal.stateChanged }
        state = State(balance: seen.balance - amount, version: seen.version + 1)
    }

    func deposit(_ amount: Int) {
        state = State(balance: state.balance + amount, version: state.version + 1)
    }
}
