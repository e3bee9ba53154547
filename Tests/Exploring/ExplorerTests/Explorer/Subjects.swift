import InterleavingExplorer

/// An account whose check and act are two steps of the actor, with a suspension between them.
actor Account {
    private(set) var balance: Int

    init(balance: Int) {
        self.balance = balance
    }

    func withdraw(_ amount: Int, approval: @Sendable () async -> Void) async {
        guard balance >= amount else { return }
        await approval()
        balance -= amount
    }
}

/// A counter.
actor Counter {
    private(set) var value = 0

    func increment() {
        value += 1
    }
}

/// One shared load for many callers.
actor Loads {
    private(set) var started = 0
    private var cached: Int?
    private var flight: Task<Int, Never>?
    private let executor: any TaskExecutor
    private let server: @Sendable () async -> Void

    init(executor: any TaskExecutor, server: @escaping @Sendable () async -> Void) {
        self.executor = executor
        self.server = server
    }

    func token() async -> Int {
        if let cached { return cached }
        let task = flight ?? Task(executorPreference: executor) { await self.load() }
        flight = task
        return await task.value
    }

    private func load() async -> Int {
        started += 1
        let token = started
        await server()
        cached = token
        flight = nil
        return token
    }
}

/// Callers that come at once to a subject that must load once.
func loading(callers: Int) -> Scenario {
    Scenario("\(callers) callers") { run in
        let loads = Loads(executor: run.executor) { await run.pause("answer") }
        for number in 1...callers {
            run.operation("caller \(number)") { await loads.token() }
        }
        run.invariant("one load") { await loads.started == 1 }
    }
}

/// An actor that shows in which order it was entered.
actor Cell {
    private(set) var text = ""

    func add(_ more: String) -> String {
        text += more
        return text
    }
}

/// An actor on a queue of the run.
actor Pinned {
    nonisolated let queue: ControlledQueue
    private(set) var log = ""

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    init(_ queue: ControlledQueue) {
        self.queue = queue
    }

    func add(_ text: String) {
        assertIsolated()
        log += text
    }

    func start() {
        Task { add("task") }
    }
}
