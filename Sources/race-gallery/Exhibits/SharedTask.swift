import InterleavingExplorer

/// The authentication service: one task for all who need a token.
enum SharedTask {
    private static let title = "Three callers share one load of a token, and one of them rejects it"

    static let exhibit = Exhibit(
        name: "authentication-service",
        title: title,
        story: """
            While a load is under way, whoever comes joins its task. The slot must be empty again when the load is \
            over, and the obvious place to empty it is a defer in the method that all callers run. But the callers \
            wake one after another, and the last may clear a newer task out of the slot: two loads at once.
            """,
        invariants: ["one load at a time"],
        versions: [
            .faulty(
                "unguarded",
                breaks: "one load at a time",
                "loads when it finds no token",
                scenario(.unguarded)
            ),
            .wrongFix(
                "every-caller-clears",
                breaks: "one load at a time",
                "clears the slot in every caller's defer",
                scenario(.everyCallerClears)
            ),
            .fix("starter-clears", "only who has started the task clears it", scenario(.starterClears)),
            .fix("load-clears", "the load clears the slot with its last step", scenario(.loadClears)),
        ]
    )

    private static func scenario(_ style: AuthenticationService.Style) -> Scenario {
        Scenario(title) { run in
            let service = AuthenticationService(style) { await run.pause("token \($0)") }
            run.operation("first") { _ = await service.token() }
            run.operation("second") {
                await service.invalidate(await service.token())
                _ = await service.token()
            }
            run.operation("third") { _ = await service.token() }
            run.invariant("one load at a time") { await service.mostLoadsAtOnce == 1 }
        }
    }
}

private actor AuthenticationService {
    enum Style: Sendable {
        case unguarded
        case everyCallerClears
        case starterClears
        case loadClears
    }

    private(set) var mostLoadsAtOnce = 0
    private var loadsAtOnce = 0
    private var loads = 0
    private var cached: Int?
    private var tokenTask: Task<Int, Never>?
    private let style: Style
    private let server: @Sendable (Int) async -> Void

    init(_ style: Style, server: @escaping @Sendable (Int) async -> Void) {
        self.style = style
        self.server = server
    }

    func token() async -> Int {
        if let cached {
            return cached
        }
        switch style {
        case .unguarded:
            return await load()
        case .everyCallerClears:
            defer {
                note("clears the slot")
                tokenTask = nil
            }
            return await (joined ?? start()).value
        case .starterClears:
            if let joined {
                return await joined.value
            }
            let task = start()
            let token = await task.value
            if tokenTask == task {
                tokenTask = nil
            }
            return token
        case .loadClears:
            return await (joined ?? start()).value
        }
    }

    /// The task that is under way, if there is one.
    private var joined: Task<Int, Never>? {
        note(tokenTask == nil ? "finds the slot empty" : "joins")
        return tokenTask
    }

    /// Throws the token away, unless there is a newer one already.
    func invalidate(_ rejected: Int) {
        if cached == rejected {
            cached = nil
            note("rejects token \(rejected)")
        }
    }

    private func start() -> Task<Int, Never> {
        let task = Task { await load() }
        tokenTask = task
        return task
    }

    private func load() async -> Int {
        loads += 1
        let number = loads
        loadsAtOnce += 1
        mostLoadsAtOnce = max(mostLoadsAtOnce, loadsAtOnce)
        note("starts load \(number)")
        await server(number)
        loadsAtOnce -= 1
        cached = number
        if style == .loadClears {
            tokenTask = nil
        }
        return number
    }
}
