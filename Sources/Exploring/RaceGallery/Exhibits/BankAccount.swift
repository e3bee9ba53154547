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
            time, but each await lets the other withdrawal in. A balance that was read before the await may be wrong \
            after it. Each fix has a price: it refuses a caller, lets a caller wait, or repeats work.
            """,
        invariants: ["no overdraft", "one of the two is paid"],
        versions: [
            .faulty(
                "check-then-act",
                breaks: "no overdraft",
                "decides by the balance from before the await",
                scenario { CheckThenAct(approve: $0) }
            ),
            .fix("bounce", "refuses other callers during a withdrawal", scenario { Bounce(approve: $0) }),
            .fix("queue-and-await", "each waits for the one before", scenario { QueueAndAwait(approve: $0) }),
            .fix("optimistic", "takes the money first, gives it back if refused", scenario { Optimistic(approve: $0) }),
            .fix(
                "transaction-log",
                "logs first, checks after the await, removes its entry on failure",
                scenario { TransactionLog(approve: $0) }
            ),
            .fix("re-validate", "checks again after the await", scenario { Revalidate(approve: $0) }),
            .fix(
                "compare-and-swap",
                "starts again if the version has changed",
                scenario { CompareAndSwap(approve: $0) }
            ),
            .fix(
                "state-changed",
                "answers .stateChanged if the state is not equal; the caller tries again",
                scenario { ComparesStates(approve: $0) }
            ),
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
@available(Executors, *)
protocol Account: Actor {
    var balance: Int { get }
    func withdraw(_ amount: Int) async throws
}

/// The bank's answer to a withdrawal, which takes time.
@available(Executors, *)
typealias Approval = @Sendable () async throws -> Void

@available(Executors, *)
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
        guard !isBusy else { throw Refusal.busy }
        isBusy = true
        defer { isBusy = false }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
    }
}

/// Lets each withdrawal wait for the one before it: for callers that must be served.
///
/// A withdrawal awaits the result of the one before, not its value: an error of that one belongs to another caller.
@available(Executors, *)
actor QueueAndAwait: Account {
    private(set) var balance = 100
    private var last: Task<Void, any Error>?
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        let previous = last
        let mine = Task {
            _ = await previous?.result
            try await pay(amount)
        }
        last = mine
        try await mine.value
    }

    private func pay(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
    }
}

/// Takes the money before the await, and gives it back if the approval is refused: for actions that rarely fail.
///
/// It gives back the amount. Restoring the balance from before the await would undo what others did meanwhile.
@available(Executors, *)
actor Optimistic: Account {
    private(set) var balance = 100
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
        do {
            try await approve()
        } catch {
            balance += amount
            throw error
        }
    }
}

/// Checks again after the await: for callers that accept a late refusal.
///
/// There is no await between the second check and the payment.
@available(Executors, *)
actor Revalidate: Account {
    private(set) var balance = 100
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
}

/// Counts the changes, and starts again after a change: for results that depend on the whole state.
@available(Executors, *)
actor CompareAndSwap: Account {
    private(set) var balance = 100 {
        didSet { version += 1 }
    }
    private var version = 0
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        while true {
            let seen = version
            guard balance >= amount else { throw Refusal.insufficientFunds }
            try await approve()
            if version == seen {
                balance -= amount
                return
            }
        }
    }
}

/// Enters the withdrawal into a log before the await, and removes the entry if the check after the await fails.
///
/// Others see the change at once, and each change can be undone by itself.
@available(Executors, *)
actor TransactionLog: Account {
    private struct Transaction {
        let id: Int
        let amount: Int
    }

    private var log: [Transaction] = []
    private var lastID = 0
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    var balance: Int { log.reduce(100) { $0 + $1.amount } }

    func withdraw(_ amount: Int) async throws {
        let id = enter(-amount)
        do {
            try await approve()
            guard balance >= 0 else { throw Refusal.insufficientFunds }
        } catch {
            log.removeAll { $0.id == id }
            throw error
        }
    }

    func deposit(_ amount: Int) {
        _ = enter(amount)
    }

    private func enter(_ amount: Int) -> Int {
        lastID += 1
        log.append(Transaction(id: lastID, amount: amount))
        return lastID
    }
}

/// Keeps the immutable state that it saw, and answers `.stateChanged` if the present state is not equal to it.
///
/// Equality misses a state that has changed and changed back; see the exhibit `state-changed`.
@available(Executors, *)
actor ComparesStates: Account {
    struct State: Equatable, Sendable {
        let balance: Int
    }

    enum Answer: Sendable {
        case paid
        case insufficientFunds
        case stateChanged
    }

    private var state = State(balance: 100)
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    var balance: Int { state.balance }

    /// The caller's part: it tries again for as long as the answer is `.stateChanged`.
    func withdraw(_ amount: Int) async throws {
        while true {
            switch try await attempt(amount) {
            case .paid: return
            case .insufficientFunds: throw Refusal.insufficientFunds
            case .stateChanged: note("is told that the state has changed")
            }
        }
    }

    private func attempt(_ amount: Int) async throws -> Answer {
        let seen = state
        guard seen.balance >= amount else { return .insufficientFunds }
        try await approve()
        guard state == seen else { return .stateChanged }
        state = State(balance: seen.balance - amount)
        return .paid
    }
}
