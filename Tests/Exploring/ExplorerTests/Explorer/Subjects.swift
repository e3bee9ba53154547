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

    func set(_ value: Int) {
        self.value = value
    }

    func increment() {
        value += 1
    }
}

/// One shared load for many callers, or a load for each.
actor Loads {
    enum Style: Sendable {
        /// The load is shared, and clears itself: right.
        case loadClears
        /// Every caller that finds no token loads: wrong.
        case unguarded
    }

    private(set) var started = 0
    private var cached: Int?
    private var flight: Task<Int, Never>?
    private let style: Style
    private let executor: (any TaskExecutor)?
    private let server: @Sendable () async -> Void

    init(_ style: Style, executor: (any TaskExecutor)?, server: @escaping @Sendable () async -> Void) {
        self.style = style
        self.executor = executor
        self.server = server
    }

    func token() async -> Int {
        if let cached {
            return cached
        }
        switch style {
        case .unguarded:
            return await load()
        case .loadClears:
            return await (flight ?? startFlight()).value
        }
    }

    private func startFlight() -> Task<Int, Never> {
        let task =
            if let executor {
                Task(executorPreference: executor) { await self.load() }
            } else {
                Task.detached { await self.load() }
            }
        flight = task
        return task
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

/// A gate that forgets to look whether it is open already when a task begins to wait.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private let looksAgain: Bool

    init(looksAgain: Bool) {
        self.looksAgain = looksAgain
    }

    func wait() async {
        guard !isOpen else { return }
        await Task.yield()
        if looksAgain, isOpen {
            return
        }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters {
            waiter.resume()
        }
        waiters = []
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
