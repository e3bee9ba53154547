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
        Task { add("t") }
    }
}
