import InterleavingExplorer

/// Mutual exclusion across an await: only one withdrawal at a time is between its check and its payment.
@available(Executors, *)
enum AsyncMutex {
    private static let title = "Three withdrawals of 80, one at a time, and the bank refuses the first"
    private static let ownError = "an error reaches nobody but its own caller"

    static let exhibit = Exhibit(
        name: "async-mutex",
        title: title,
        story: """
            An actor excludes other callers between two awaits, not across one. A chain of tasks or a lock of \
            continuations excludes them across awaits, and both are easy to write almost right. A caller that waits \
            only once goes on together with all who waited for the same task. A caller that takes over the error of \
            the one before fails without a try. A lock that is set free before it is passed on can be taken by a \
            third caller. A lock that is not released after an error is held for ever.
            """,
        invariants: ["no overdraft", ownError],
        versions: [
            Version(
                "waits-once",
                "waits for the present task, then goes on",
                breaks: "no overdraft",
                repair: "async-mutex chain",
                scenario { WaitsOnce(approve: $0) }
            ),
            Version(
                "inherits-error",
                "awaits the one before with try",
                breaks: ownError,
                repair: "async-mutex chain",
                scenario { InheritsError(approve: $0) }
            ),
            Version(
                "lock-set-free",
                "frees the lock, then wakes a waiter that takes it for its own",
                breaks: "no overdraft",
                repair: "async-mutex lock-passed-on",
                scenario { LockSetFree(approve: $0) }
            ),
            Version(
                "lock-not-released",
                "releases the lock only after success",
                breaks: "lost waiter",
                repair: "async-mutex lock-passed-on",
                scenario { LockNotReleased(approve: $0) }
            ),
            Version("chain", "each awaits the end of the one before", scenario { TaskChain(approve: $0) }),
            Version(
                "lock-passed-on",
                "a lock of continuations stays locked while it is passed on",
                of: Listing(.strategies, "strategy 2: three callers, and an error"),
                scenario { QueueAndAwait(approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping NamedApproval) -> any ExclusiveAccount
    ) -> Scenario {
        Scenario(title) { run in
            let account = open { name in
                await run.pause(name == "first" ? "refused" : "approved")
                if name == "first" { throw RefusedByBank(name: name) }
            }
            let withdrawals = ["first", "second", "third"].map { name in
                run.operation(name, mayThrow: true) { try await account.withdraw(80, for: name) }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
            run.invariant(ownError) {
                withdrawals.allSatisfy { withdrawal in
                    (withdrawal.error as? RefusedByBank).map { $0.name == withdrawal.name } ?? true
                }
            }
        }
    }
}

@available(Executors, *)
typealias NamedApproval = @Sendable (_ name: String) async throws -> Void

@available(Executors, *)
private struct RefusedByBank: Error {
    let name: String
}

/// An account that starts with 100 and lets one withdrawal at a time run.
@available(Executors, *)
protocol ExclusiveAccount: Actor {
    var balance: Int { get set }
    var approve: NamedApproval { get }
    func withdraw(_ amount: Int, for name: String) async throws
}

@available(Executors, *)
extension ExclusiveAccount {
    /// Right as long as only one of these runs at a time.
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

@available(Executors, *)
private actor WaitsOnce: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var running: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        _ = await running?.result
        let mine = Task { try await pay(amount, for: name) }
        running = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor InheritsError: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var last: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        let mine = Task { [last] in
            try await last?.value
            try await pay(amount, for: name)
        }
        last = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor TaskChain: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var last: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        let mine = Task { [last] in
            _ = await last?.result
            try await pay(amount, for: name)
        }
        last = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor LockSetFree: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        defer {
            isLocked = false
            if !waiters.isEmpty { waiters.removeFirst().resume() }
        }
        try await pay(amount, for: name)
    }
}

@available(Executors, *)
private actor LockNotReleased: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        try await pay(amount, for: name)
        if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
    }
}

/// Strategy 2: a caller that finds the account busy waits in line, and is handed the lock.
///
/// The lock is never free in between: no third caller can take it.
@available(Executors, *)
actor QueueAndAwait: ExclusiveAccount, Account {
    var balance = 100
    let approve: NamedApproval
    private var isOperationInProgress = false
    private var pendingOperations: [CheckedContinuation<Void, Never>] = []

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        try await withdraw(amount, for: "a caller")
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        await acquireLock()
        defer { releaseLock() }
        try await pay(amount, for: name)
    }

    private func acquireLock() async {
        if isOperationInProgress { await withCheckedContinuation { pendingOperations.append($0) } }
        isOperationInProgress = true
    }

    private func releaseLock() {
        if pendingOperations.isEmpty {
            isOperationInProgress = false
        } else {
            pendingOperations.removeFirst().resume()
        }
    }
}
