import InterleavingExplorer

/// What can happen between a check and the use of what was checked, step by step.
@available(Executors, *)
enum CheckAndUse {
    private static let title = "Two callers, and an await between a check and a use"

    static let exhibit = Exhibit(
        name: "check-and-use",
        title: title,
        story: """
            A caller finds no cached token, awaits a log, and then loads. Meanwhile the other caller has loaded and \
            cached a token: there are two loads. The same gap decides whether `tokenTask!` is safe. Directly after \
            the assignment it is: nobody else enters the actor before the next suspension, and `tokenTask!.value` is \
            evaluated before that. With an await in between, the load may have ended and set tokenTask to nil, and \
            the program traps.
            """,
        invariants: ["one load", "tokenTask! does not trap"],
        versions: [
            .faulty(
                "await-before-load",
                breaks: "one load",
                "checks the cache, awaits the log, joins a load or starts one",
                scenario(.awaitsBeforeLoad)
            ),
            .faulty(
                "await-before-unwrap",
                breaks: "tokenTask! does not trap",
                "sets tokenTask, awaits the log, uses tokenTask!",
                scenario(.awaitsBeforeUnwrap)
            ),
            .fix("checks-again", "checks the cache again after the log", scenario(.checksAgain)),
            .fix("unwraps-at-once", "uses tokenTask! in the step that sets it", scenario(.unwrapsAtOnce)),
            .fix("local-task", "awaits the log between, and uses a local constant", scenario(.keepsLocalTask)),
        ]
    )

    private static func scenario(_ style: LoggingService.Style) -> Scenario {
        Scenario(title) { run in
            let service = LoggingService(style) { await run.pause($0) }
            for name in ["first", "second"] {
                run.operation(name) { await service.token() }
            }
            run.invariant("one load") { await service.loads == 1 }
            run.invariant("tokenTask! does not trap") { await !service.wouldTrap }
        }
    }
}

@available(Executors, *)
private actor LoggingService {
    enum Style: Sendable {
        case awaitsBeforeLoad
        case awaitsBeforeUnwrap
        case checksAgain
        case unwrapsAtOnce
        case keepsLocalTask
    }

    private(set) var loads = 0
    private(set) var wouldTrap = false
    private var cached: Int?
    private var tokenTask: Task<Int, Never>?
    private let style: Style
    private let slow: @Sendable (String) async -> Void

    init(_ style: Style, slow: @escaping @Sendable (String) async -> Void) {
        self.style = style
        self.slow = slow
    }

    func token() async -> Int {
        if let cached {
            return cached
        }
        note("finds no token")
        if let tokenTask {
            return await tokenTask.value
        }
        if style == .awaitsBeforeLoad || style == .checksAgain {
            await slow("logged")
            if style == .checksAgain, let cached { return cached }
            if let tokenTask { return await tokenTask.value }
        }
        let task = Task {
            defer { tokenTask = nil }
            return await load()
        }
        tokenTask = task
        if style == .awaitsBeforeUnwrap || style == .keepsLocalTask {
            await slow("logged")
        }
        guard style != .keepsLocalTask else { return await task.value }
        // `await tokenTask!.value`, without ending the program where that would.
        guard let unwrapped = tokenTask else {
            note("tokenTask! traps")
            wouldTrap = true
            return 0
        }
        return await unwrapped.value
    }

    private func load() async -> Int {
        loads += 1
        note("starts load \(loads)")
        await slow("token")
        cached = loads
        note("stores the token")
        return loads
    }
}
