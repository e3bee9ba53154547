import InterleavingExplorer

/// A withdrawal that must wait for an approval between the look at the balance and the payment.
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
                "check-then-act",
                "decides by the balance from before the await",
                of: Listing(.strategies, "the account without a strategy"),
                breaks: "no overdraft",
                repair: "bank-account re-validate",
                scenario { CheckThenAct(approve: $0) }
            ),
            Version(
                "bounce",
                "refuses other callers during a withdrawal",
                of: Listing(.strategies, "strategy 1: bounce"),
                scenario { Bounce(approve: $0) }
            ),
            Version(
                "queue-and-await",
                "a lock of continuations: each waits for the one before",
                of: Listing(.strategies, "strategy 2: queue, with acquireLock and releaseLock"),
                scenario { QueueAndAwait(approve: $0) }
            ),
            Version(
                "optimistic",
                "takes the money first and logs it, gives it back if refused",
                of: Listing(.strategies, "strategy 3: optimistic, with a transaction log"),
                scenario { Optimistic(approve: $0) }
            ),
            Version(
                "snapshot",
                "compares the balance, answers .stateChanged; the caller tries again",
                of: Listing(.strategies, "strategy 4: compare the balance, answer stateChanged"),
                scenario { SnapshotAccount(approve: $0) }
            ),
            Version(
                "re-validate",
                "checks the funds again after the await",
                scenario { Revalidate(approve: $0) }
            ),
            Version(
                "compare-and-swap",
                "compares the version of an immutable state; the caller tries again",
                of: Listing(.strategies, "strategy 6: immutable state with a version"),
                scenario { VersionedAccount(approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping Approval) -> any Account
    ) -> Scenario {
        Scenario(title) { run in
            let account = open { await run.pause("approved") }
            let withdrawals = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) { try await account.withdraw(80, untilStateIsUnchanged: true) }
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
@available(Executors, *)
protocol Account: Actor {
    var balance: Int { get }
    func withdraw(_ amount: Int) async throws
}

@available(Executors, *)
extension Account {
    /// The caller's part: where the answer is `.stateChanged`, it tries again.
    nonisolated func withdraw(_ amount: Int, untilStateIsUnchanged: Bool) async throws {
        while true {
            do {
                return try await withdraw(amount)
            } catch Refusal.stateChanged where untilStateIsUnchanged {
                note("is told that the state has changed")
            } catch {
                note("is refused: \(error)")
                throw error
            }
        }
    }
}

@available(Executors, *)
protocol TransferAccount: Account {
    func deposit(_ amount: Int)
}

/// The bank's answer to a withdrawal, which takes time.
@available(Executors, *)
typealias Approval = @Sendable () async throws -> Void

@available(Executors, *)
enum Refusal: Error {
    case insufficientFunds
    case operationInProgress
    case stateChanged
    case refusedByBank
}

/// Checks the balance, awaits, and takes the money without another check.
@available(Executors, *)
actor CheckThenAct: Account {
    private(set) var balance = 100
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        note("sees \(balance): enough")
        try await approve()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}

/// Refuses other callers during a withdrawal: for actions that a user can simply repeat.
///
/// The flag is checked and set in one step, before the first await.
@available(Executors, *)
actor Bounce: Account {
    private(set) var balance = 100
    private var isBusy = false
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard !isBusy else { throw Refusal.operationInProgress }
        isBusy = true
        defer { isBusy = false }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
    }
}

/// Takes the money before the await and logs it, and gives it back if the approval is refused or the account overdrawn.
///
/// It gives back the logged amount. Restoring the balance from before the await would undo what others did meanwhile.
@available(Executors, *)
actor Optimistic: TransferAccount {
    private(set) var balance = 100
    private var log: [Int: Int] = [:]
    private var lastID = 0
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        lastID += 1
        let id = lastID
        balance -= amount
        log[id] = amount
        defer { log[id] = nil }
        do {
            try await approve()
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
@available(Executors, *)
actor Revalidate: TransferAccount {
    private(set) var balance = 100 {
        didSet { effect("balance \(balance)") }
    }
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
    }

    func deposit(_ amount: Int) { balance += amount }
}

/// Compares the balance with the one that it saw, and answers `.stateChanged`; then it checks the funds again.
///
/// A balance that has changed and changed back passes for the same: see the exhibit `state-changed`.
@available(Executors, *)
actor SnapshotAccount: TransferAccount {
    private(set) var balance = 100 {
        didSet { effect("balance \(balance)") }
    }
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        let seen = balance
        try await approve()
        guard balance == seen else { throw Refusal.stateChanged }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
    }

    func deposit(_ amount: Int) { balance += amount }
}

/// Replaces an immutable state, whose version grows with each change: each state can go into an audit trail.
@available(Executors, *)
actor VersionedAccount: TransferAccount {
    struct State: Sendable {
        let balance: Int
        let version: Int
    }

    private var state = State(balance: 100, version: 0) {
        didSet { effect("balance \(balance)") }
    }
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    var balance: Int { state.balance }

    func withdraw(_ amount: Int) async throws {
        let seen = state
        guard seen.balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        guard state.version == seen.version else { throw Refusal.stateChanged }
        state = State(balance: seen.balance - amount, version: seen.version + 1)
    }

    func deposit(_ amount: Int) {
        state = State(balance: state.balance + amount, version: state.version + 1)
    }
}
