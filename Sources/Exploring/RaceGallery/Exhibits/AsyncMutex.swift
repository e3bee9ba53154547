import InterleavingExplorer

/// Mutual exclusion across an await: only one withdrawal at a time is between its check and its payment.
@available(Executors, *)
enum AsyncMutex {
    private static let title = "Three withdrawals of 80, one at a time, and the bank refuses the first"

    static let exhibit = Exhibit(
        name: "async-mutex",
        title: title,
        story: """
            An actor excludes other callers between two awaits, not across one. A lock of continuations excludes them \
            across awaits, and is easy to write almost right. A lock that is set free before it is passed on can be \
            taken by a third caller. A lock that is not released after an error is held for ever.
            """,
        invariants: ["no overdraft"],
        versions: [
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
            Version(
                "lock-passed-on",
                "a lock of continuations stays locked while it is passed on",
                of: Listing(.strategies, "strategy 2: three callers, and an error"),
                scenario { QueueAndAwait(approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping Approval) -> any Account
    ) -> Scenario {
        Scenario(title) { run in
            let account = open {
                run.effect("asks the bank")
                let isFirst = run.effects.count == 1
                await run.pause(isFirst ? "refused" : "approved")
                if isFirst { throw Refusal.refusedByBank }
            }
            for name in ["first", "second", "third"] {
                run.operation(name, mayThrow: true) { try await account.withdraw(80) }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
        }
    }
}

@available(Executors, *)
private actor LockSetFree: Account {
    private(set) var balance = 100
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        defer {
            isLocked = false
            if !waiters.isEmpty { waiters.removeFirst().resume() }
        }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}

@available(Executors, *)
private actor LockNotReleased: Account {
    private(set) var balance = 100
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
        if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
    }
}

/// Strategy 2: a caller that finds the account busy waits in line, and is handed the lock.
///
/// The lock is never free in between: no third caller can take it.
@available(Executors, *)
actor QueueAndAwait: Account {
    private(set) var balance = 100
    private var isOperationInProgress = false
    private var pendingOperations: [CheckedContinuation<Void, Never>] = []
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        await acquireLock()
        defer { releaseLock() }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
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
