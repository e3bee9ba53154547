import InterleavingExplorer

@available(Executors, *)
enum ContinuationLock {
    private static let title = "Three withdrawals of about 80, one at a time, and the bank refuses the first"
    private static let inOrder = "the bank is asked in the order in which the callers came"

    static let exhibit = Exhibit(
        name: "async-mutex",
        title: title,
        story: """
            An actor excludes other callers between two awaits, not across one. A lock of continuations excludes them \
            across awaits, and is easy to write almost right. A lock that is set free before it is passed on can be \
            taken by a third caller. A lock that is not released after an error is held for ever.
            """,
        invariants: ["no overdraft", inOrder],
        versions: [
            Version(
                name: "lock-set-free",
                summary: "frees the lock, then wakes a waiter that takes it for its own",
                code: Code("LockSetFree", in: "ContinuationLock"),
                fault: .breaks("no overdraft", repair: "async-mutex lock-passed-on"),
                scenario: scenario { LockSetFree() }
            ),
            Version(
                name: "lock-not-released",
                summary: "releases the lock only after success",
                code: Code("LockNotReleased", in: "ContinuationLock"),
                fault: .breaks("lost waiter", repair: "async-mutex lock-passed-on"),
                scenario: scenario { LockNotReleased() }
            ),
            Version(
                name: "lock-passed-on",
                summary: "a lock of continuations stays locked while it is passed on",
                code: Code("QueueAndAwait", in: "ContinuationLock"),
                listings: [Listing(article: .strategies, name: "strategy 2: three callers, and an error")],
                scenario: scenario { QueueAndAwait() }
            ),
        ]
    )

    private static func scenario(_ open: @escaping @Sendable () -> any Account) -> Scenario {
        Scenario(title) { run in
            let account = open()
            let (comes, asks) = ("comes: ", "asks the bank: ")
            for (name, amount) in [("first", 80), ("second", 81), ("third", 82)] {
                run.operation(name, mayThrow: true) {
                    try await account.withdraw(amount) {
                        run.effect("\(asks)\(amount)")
                        let isFirst = run.effects.count { $0.hasPrefix(asks) } == 1
                        await run.pause(isFirst ? "refused" : "approved")
                        if isFirst { throw Refusal.refusedByBank }
                    }
                }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
            run.invariant(inOrder) {
                let came = run.effects.filter { $0.hasPrefix(comes) }.map { $0.dropFirst(comes.count) }
                let asked = run.effects.filter { $0.hasPrefix(asks) }.map { $0.dropFirst(asks.count) }
                return asked == came.filter(asked.contains) || came.isEmpty
            }
        }
    }
}

private actor LockSetFree: Account {
    private(set) var balance = 100
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func withdraw(_ amount: Int, approval: Approval) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        defer {
            isLocked = false
            if !waiters.isEmpty { waiters.removeFirst().resume() }
        }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}

private actor LockNotReleased: Account {
    private(set) var balance = 100
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func withdraw(_ amount: Int, approval: Approval) async throws {
        if isLocked { await withCheckedContinuation { waiters.append($0) } }
        isLocked = true
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
        balance -= amount
        if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
    }
}

/// Strategy 2: a caller that finds the account busy waits in line, and is handed the lock.
///
/// The lock is never free in between: no third caller can take it, and the callers are served as they came.
actor QueueAndAwait: Account {
    private(set) var balance = 100
    private var isOperationInProgress = false
    private var pendingOperations: [CheckedContinuation<Void, Never>] = []

    func withdraw(_ amount: Int, approval: Approval) async throws {
        effect("comes: \(amount)")
        await acquireLock()
        defer { releaseLock() }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approval()
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
