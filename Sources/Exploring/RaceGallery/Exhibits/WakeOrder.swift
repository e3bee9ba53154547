import InterleavingExplorer

@available(Executors, *)
enum WakeOrder {
    private static let title = "Three callers wait for one load, and are to be served as they came"
    private static let invariant = "served as they came"

    static let exhibit = Exhibit(
        name: "wake-order",
        title: title,
        story: """
            Many say that the waiters of a shared task wake in the order in which they came. Nothing promises that \
            order, and on this runtime the last waiter wakes first. Resuming continuations in order is not enough \
            either: the tasks are ready at the same time, and the scheduler chooses. The order is kept where one task \
            calls all handlers.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "shared-task",
                summary: "awaits the task's value",
                code: Code("WaitersOfTask", in: "WakeOrder"),
                listings: [Listing(article: .oauthClient, name: "claim: functions resume in the order of their calls")],
                fault: .breaks(invariant, repair: "wake-order handlers"),
                scenario: scenario(WaitersOfTask.init) { await $0.serve($1) }
            ),
            Version(
                name: "handlers",
                summary: "the load calls handlers in order",
                code: Code("WaitingHandlers", in: "WakeOrder"),
                scenario: scenario(WaitingHandlers.init) { counter, name in
                    await withCheckedContinuation { continuation in
                        Task { await counter.serve(name) { continuation.resume() } }
                    }
                }
            ),
        ]
    )

    private static func scenario<Counter: Actor>(
        _ make: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Counter,
        serve: @escaping @Sendable (Counter, String) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let counter = make { await run.pause("load is over") }
            for name in ["first", "second", "third"] {
                run.operation(name) { await serve(counter, name) }
            }
            run.invariant(invariant) {
                let (came, served) = ("comes: ", "is served: ")
                return run.effects.filter { $0.hasPrefix(came) }.map { $0.dropFirst(came.count) }
                    == run.effects.filter { $0.hasPrefix(served) }.map { $0.dropFirst(served.count) }
            }
        }
    }
}

private actor WaitersOfTask {
    private var task: Task<Void, Never>?
    private let load: @Sendable () async -> Void

    init(load: @escaping @Sendable () async -> Void) {
        self.load = load
    }

    func serve(_ name: String) async {
        effect("comes: \(name)")
        let task = task ?? Task { await load() }
        self.task = task
        await task.value
        effect("is served: \(name)")
    }
}

private actor WaitingHandlers {
    private var waiters: [(name: String, handler: @Sendable () -> Void)] = []
    private var task: Task<Void, Never>?
    private var isOver = false
    private let load: @Sendable () async -> Void

    init(load: @escaping @Sendable () async -> Void) {
        self.load = load
    }

    func serve(_ name: String, then handler: @escaping @Sendable () -> Void) {
        effect("comes: \(name)")
        waiters.append((name, handler))
        task =
            task
            ?? Task {
                await load(); isOver = true; callHandlers()
            }
        if isOver { callHandlers() }
    }

    private func callHandlers() {
        for (name, handler) in waiters {
            effect("is served: \(name)")
            handler()
        }
        waiters = []
    }
}
