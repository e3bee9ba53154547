import InterleavingExplorer

@available(Executors, *)
enum PinnedExecutor {
    private static let title = "Two withdrawals of 80 from an actor on a serial queue"

    static let exhibit = Exhibit(
        name: "serial-executor",
        title: title,
        story: """
            A custom serial executor decides where an actor runs. It does not make a method run in one piece: at an \
            await, the queue goes on with its next job. It does keep the order of the queue, and code that already \
            runs on the queue can enter the actor without an await.
            """,
        invariants: ["no overdraft"],
        versions: [
            Version(
                name: "queue-alone",
                summary: "pins the actor to a queue, and awaits as before",
                code: Code("PinnedAccount", in: "PinnedExecutor"),
                listings: [Listing(article: .raceConditions, name: "fix 5: a custom executor")],
                fault: .breaks("no overdraft", repair: "serial-executor one-job"),
                scenario: scenario { account, approve in await account.withdraw(80, approval: approve) }
            ),
            Version(
                name: "one-job",
                summary: "awaits first, then checks and acts in one job",
                code: Code("PinnedAccount", in: "PinnedExecutor"),
                scenario: scenario { account, approve in
                    await approve()
                    await account.withdraw(80)
                }
            ),
        ]
    )

    private static func scenario(
        _ withdraw: @escaping @Sendable (PinnedAccount, @escaping @Sendable () async -> Void) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let account = PinnedAccount(run.queue("queue"))
            for name in ["first", "second"] {
                run.operation(name) {
                    await withdraw(account) { await run.pause("approved") }
                }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
        }
    }
}

/// An account on a queue; in an app that would be a `DispatchSerialQueue`.
@available(Executors, *)
private actor PinnedAccount {
    nonisolated let queue: ControlledQueue
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }
    private(set) var balance = 100

    init(_ queue: ControlledQueue) {
        self.queue = queue
    }

    func withdraw(_ amount: Int, approval: @Sendable () async -> Void) async {
        guard balance >= amount else { return }
        note("sees \(balance): enough")
        await approval()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }

    func withdraw(_ amount: Int) {
        guard balance >= amount else { return }
        balance -= amount
    }
}
