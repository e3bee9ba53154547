import InterleavingExplorer

/// An account whose check and act are two steps of the actor, with a suspension between them.
actor Account {
    private(set) var balance: Int
    private let revalidates: Bool

    init(balance: Int, revalidates: Bool = false) {
        self.balance = balance
        self.revalidates = revalidates
    }

    func withdraw(_ amount: Int, approval: @Sendable () async -> Void) async {
        guard balance >= amount else { return }
        await approval()
        guard !revalidates || balance >= amount else { return }
        balance -= amount
    }
}

/// A counter that reads, hops away and writes back.
actor Counter {
    private(set) var value = 0

    func set(_ value: Int) {
        self.value = value
    }

    func increment() {
        value += 1
    }
}

/// One shared load for many callers; how the slot of the shared task is cleared is up to the style.
actor Loads {
    enum Style: Sendable {
        /// The load clears the slot itself: right.
        case loadClears
        /// Every caller clears whatever task is in the slot when it leaves: wrong.
        case everyCallerClears
        /// Nothing is shared: every caller that finds no token loads.
        case unguarded
    }

    private(set) var cached: Int?
    private(set) var started = 0
    private(set) var inFlight = 0
    private(set) var mostInFlight = 0
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
        case .everyCallerClears:
            defer { flight = nil }
            return await (flight ?? startFlight()).value
        }
    }

    func invalidate() {
        cached = nil
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
        inFlight += 1
        mostInFlight = max(mostInFlight, inFlight)
        let token = started
        await server()
        inFlight -= 1
        cached = token
        if style == .loadClears {
            flight = nil
        }
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

    func addTwice(_ more: String) async -> String {
        text += more
        await Task.yield()
        text += more
        return text
    }
}
