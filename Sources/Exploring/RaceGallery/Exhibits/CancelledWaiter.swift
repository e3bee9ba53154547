import InterleavingExplorer

/// Two callers share a load, and the first of them is cancelled.
@available(Executors, *)
enum CancelledWaiter {
    private static let title = "Two callers wait for one load, and one of them is cancelled"

    static let exhibit = Exhibit(
        name: "cancelled-waiter",
        title: title,
        story: """
            A user leaves the screen that asked first. If that caller's task runs the load, or if its cancellation \
            reaches the shared task, all other callers get a CancellationError. The rotated token that the server may \
            have sent by then is lost.
            """,
        invariants: ["who is not cancelled gets the token"],
        versions: [
            .faulty(
                "leader-loads",
                breaks: "who is not cancelled gets the token",
                "the first caller loads, the others wait for it",
                scenario(.leaderLoads)
            ),
            .wrongFix(
                "cancels-the-load",
                breaks: "who is not cancelled gets the token",
                "passes a caller's cancellation on to the shared task",
                scenario(.cancelsTheLoad)
            ),
            .fix("load-of-its-own", "the load has a task of its own", scenario(.loadOfItsOwn)),
        ]
    )

    private static func scenario(_ style: LeaderService.Style) -> Scenario {
        Scenario(title) { run in
            let service = LeaderService(style) { try await run.clock.sleep(for: .seconds(1)) }
            let cancelled = run.operation("cancelled", mayThrow: true) { try await service.token() }
            let other = run.operation("other", mayThrow: true) {
                do {
                    return try await service.token()
                } catch {
                    note("wakes to an error")
                    throw error
                }
            }
            run.step(cancelling: cancelled)
            run.invariant("who is not cancelled gets the token") { other.value != nil }
        }
    }
}

@available(Executors, *)
private actor LeaderService {
    enum Style: Sendable {
        case leaderLoads
        case cancelsTheLoad
        case loadOfItsOwn
    }

    private var isLoading = false
    private var waiters: [CheckedContinuation<Int, any Error>] = []
    private var cached: Int?
    private var tokenTask: Task<Int, any Error>?
    private let style: Style
    private let server: @Sendable () async throws -> Void

    init(_ style: Style, server: @escaping @Sendable () async throws -> Void) {
        self.style = style
        self.server = server
    }

    func token() async throws -> Int {
        if let cached {
            return cached
        }
        guard style != .leaderLoads else { return try await loadOrWait() }
        note(tokenTask == nil ? "finds no task" : "joins")
        let task = tokenTask ?? start()
        guard style == .cancelsTheLoad else { return try await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            effect("cancels the load")
            task.cancel()
        }
    }

    private func loadOrWait() async throws -> Int {
        if isLoading {
            note("waits")
            return try await withCheckedThrowingContinuation { waiters.append($0) }
        }
        isLoading = true
        let result: Result<Int, any Error>
        do {
            result = .success(try await load())
        } catch {
            result = .failure(error)
        }
        isLoading = false
        for waiter in waiters {
            waiter.resume(with: result)
        }
        waiters = []
        return try result.get()
    }

    private func start() -> Task<Int, any Error> {
        let task = Task {
            defer { tokenTask = nil }
            return try await load()
        }
        tokenTask = task
        return task
    }

    private func load() async throws -> Int {
        note("starts the load")
        try await server()
        cached = 1
        return 1
    }
}
