import InterleavingExplorer

/// The authentication service: one task for all callers that need a token.
@available(Executors, *)
enum SharedTask {
    private static let title = "Two callers share a load that fails, ask again, and one rejects the token"

    static let exhibit = Exhibit(
        name: "authentication-service",
        title: title,
        story: """
            While a load runs, every caller awaits its task. `tokenTask` must be nil again when the load is over, \
            however it ended. If only success clears it, one failed load is the answer to every later call. The \
            obvious place to clear it is a defer in the method that all callers run. But the callers wake one after \
            another, and the last one may clear a newer task: two loads at once. If only the caller that started the \
            task clears it, another caller may wake first, ask again, and join the task that has failed.
            """,
        invariants: ["one load at a time", "everybody has a token in the end"],
        versions: [
            .faulty(
                "unguarded",
                breaks: "one load at a time",
                "loads when it finds no token",
                scenario(.unguarded)
            ),
            .wrongFix(
                "success-clears",
                breaks: "everybody has a token in the end",
                "clears tokenTask when a load succeeds",
                scenario(.successClears)
            ),
            .wrongFix(
                "every-caller-clears",
                breaks: "one load at a time",
                "clears tokenTask in every caller's defer",
                scenario(.everyCallerClears)
            ),
            .wrongFix(
                "starter-clears",
                breaks: "everybody has a token in the end",
                "the caller that started the task clears it, in a defer",
                scenario(.starterClears)
            ),
            .fix("load-clears", "the load clears tokenTask with its last step", scenario(.loadClears)),
        ]
    )

    private static func scenario(_ style: AuthenticationService.Style) -> Scenario {
        Scenario(title) { run in
            let service = AuthenticationService(style) { number in
                await run.pause(number == 1 ? "failure" : "token \(number)")
                if number == 1 { throw LoadFailed() }
            }
            let callers = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    let token = try await tokenInTwoAttempts(service)
                    guard name == "second" else { return token }
                    await service.invalidate(token)
                    return try await service.token()
                }
            }
            run.invariant("one load at a time") { await service.mostLoadsAtOnce == 1 }
            run.invariant("everybody has a token in the end") { callers.allSatisfy { $0.value != nil } }
        }
    }

    private static func tokenInTwoAttempts(_ service: AuthenticationService) async throws -> Int {
        do {
            return try await service.token()
        } catch {
            note("gets the error")
            return try await service.token()
        }
    }
}

@available(Executors, *)
private struct LoadFailed: Error {}

@available(Executors, *)
private actor AuthenticationService {
    enum Style: Sendable {
        case unguarded
        case successClears
        case everyCallerClears
        case starterClears
        case loadClears
    }

    private(set) var mostLoadsAtOnce = 0
    private var loadsAtOnce = 0
    private var loads = 0
    private var cached: Int?
    private var tokenTask: Task<Int, any Error>?
    private let style: Style
    private let server: @Sendable (Int) async throws -> Void

    init(_ style: Style, server: @escaping @Sendable (Int) async throws -> Void) {
        self.style = style
        self.server = server
    }

    func token() async throws -> Int {
        if let cached {
            return cached
        }
        switch style {
        case .unguarded:
            return try await load()
        case .everyCallerClears:
            defer {
                note("clears tokenTask")
                tokenTask = nil
            }
            return try await (joined ?? start()).value
        case .starterClears:
            if let joined {
                return try await joined.value
            }
            let task = start()
            defer {
                if tokenTask == task {
                    tokenTask = nil
                }
            }
            return try await task.value
        case .successClears, .loadClears:
            return try await (joined ?? start()).value
        }
    }

    /// The task of the present load, if there is one.
    private var joined: Task<Int, any Error>? {
        note(tokenTask == nil ? "finds no task" : "joins")
        return tokenTask
    }

    /// Throws the token away, unless there is a newer one already.
    func invalidate(_ rejected: Int) {
        if cached == rejected {
            cached = nil
            note("rejects token \(rejected)")
        }
    }

    private func start() -> Task<Int, any Error> {
        let task = Task {
            defer { if style == .loadClears { tokenTask = nil } }
            return try await load()
        }
        tokenTask = task
        return task
    }

    private func load() async throws -> Int {
        loads += 1
        let number = loads
        loadsAtOnce += 1
        mostLoadsAtOnce = max(mostLoadsAtOnce, loadsAtOnce)
        note("starts load \(number)")
        defer { loadsAtOnce -= 1 }
        try await server(number)
        cached = number
        if style == .successClears {
            tokenTask = nil
        }
        return number
    }
}
