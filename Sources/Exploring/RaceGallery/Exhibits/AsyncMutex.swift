import InterleavingExplorer

/// Mutual exclusion across an await: only one withdrawal at a time is between its check and its payment.
@available(Executors, *)
enum AsyncMutex {
    private static let title = "Three withdrawals of 80, one at a time, and the bank refuses the first"

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
        invariants: ["no overdraft", "an error reaches nobody but its own caller"],
        versions: [
            .wrongFix(
                "waits-once",
                breaks: "no overdraft",
                "waits for the present task, then goes on",
                scenario { WaitsOnce(approve: $0) }
            ),
            .wrongFix(
                "inherits-error",
                breaks: "an error reaches nobody but its own caller",
                "awaits the one before with try",
                scenario { TaskChain(inheritsErrors: true, approve: $0) }
            ),
            .wrongFix(
                "lock-set-free",
                breaks: "no overdraft",
                "frees the lock, then wakes a waiter that takes it for its own",
                scenario { ContinuationLock(.setsFree, approve: $0) }
            ),
            .wrongFix(
                "lock-not-released",
                breaks: "lost waiter",
                "releases the lock only after success",
                scenario { ContinuationLock(.releasesAfterSuccess, approve: $0) }
            ),
            .fix(
                "waits-again",
                "checks in a loop whether another one is running",
                scenario { WaitsAgain(approve: $0) }
            ),
            .fix(
                "chain",
                "each awaits the end of the one before",
                scenario { TaskChain(inheritsErrors: false, approve: $0) }
            ),
            .fix(
                "lock-passed-on",
                "a lock of continuations stays locked while it is passed on",
                scenario { ContinuationLock(.passesOn, approve: $0) }
            ),
        ]
    )

    private static func scenario(
        _ open: @escaping @Sendable (@escaping NamedApproval) -> any ExclusiveAccount
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

@available(Executors, *)
private typealias NamedApproval = @Sendable (_ name: String) async throws -> Void

@available(Executors, *)
private struct RefusedByBank: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) refused" }
}

/// An account that starts with 100 and lets one withdrawal at a time run.
@available(Executors, *)
private protocol ExclusiveAccount: Actor {
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
        if let running {
            note("waits")
            _ = await running.result
        }
        let mine = Task { try await pay(amount, for: name) }
        running = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor WaitsAgain: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private var running: Task<Void, any Error>?

    init(approve: @escaping NamedApproval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        while let running {
            note("waits")
            _ = await running.result
        }
        let mine = Task {
            // Only the task itself knows that `running` is this task.
            defer { running = nil }
            try await pay(amount, for: name)
        }
        running = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor TaskChain: ExclusiveAccount {
    var balance = 100
    let approve: NamedApproval
    private let inheritsErrors: Bool
    private var last: Task<Void, any Error>?

    init(inheritsErrors: Bool, approve: @escaping NamedApproval) {
        self.inheritsErrors = inheritsErrors
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        let mine = Task { [last] in
            if inheritsErrors {
                try await last?.value
            } else {
                _ = await last?.result
            }
            try await pay(amount, for: name)
        }
        last = mine
        try await mine.value
    }
}

@available(Executors, *)
private actor ContinuationLock: ExclusiveAccount {
    enum Release: Sendable {
        case setsFree
        case releasesAfterSuccess
        case passesOn
    }

    var balance = 100
    let approve: NamedApproval
    private let release: Release
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ release: Release, approve: @escaping NamedApproval) {
        self.release = release
        self.approve = approve
    }

    func withdraw(_ amount: Int, for name: String) async throws {
        await acquireLock()
        guard release != .releasesAfterSuccess else {
            try await pay(amount, for: name)
            return releaseLock()
        }
        defer { releaseLock() }
        try await pay(amount, for: name)
    }

    private func acquireLock() async {
        guard isLocked else {
            isLocked = true
            return note("locks")
        }
        note("waits for the lock")
        await withCheckedContinuation { waiters.append($0) }
        note("goes on with the lock")
    }

    private func releaseLock() {
        if release == .setsFree || waiters.isEmpty {
            isLocked = false
        }
        if !waiters.isEmpty {
            waiters.removeFirst().resume()
        }
    }
}
