import InterleavingExplorer

@available(Executors, *)
enum CancelledWaiter {
    private static let title = "Two callers wait for one load, and one of them is cancelled"
    private static let invariant = "who is not cancelled gets the token"

    static let exhibit = Exhibit(
        name: "cancelled-waiter",
        title: title,
        story: """
            A user leaves the screen that asked first. If the cancellation of that caller reaches the shared task, all \
            other callers get a CancellationError. The rotated token that the server may have sent by then is lost.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "cancels-the-load",
                summary: "passes a caller's cancellation on to the shared task",
                code: Code("CancelsTheLoad", in: "CancelledWaiter"),
                fault: .breaks(invariant, repair: "cancelled-waiter load-of-its-own"),
                scenario: scenario { CancelsTheLoad(load: $0) }
            ),
            Version(
                name: "load-of-its-own",
                summary: "the load has a task of its own",
                code: Code("AuthServiceRepaired", in: "AuthenticationService"),
                scenario: scenario { AuthServiceRepaired(fetchValidToken: $0) }
            ),
        ]
    )

    private static func scenario(_ make: @escaping @Sendable (@escaping Load) -> any AuthService) -> Scenario {
        Scenario(title) { run in
            let service = make {
                note("starts the load")
                try await run.clock.sleep(for: .seconds(1))
                return 1
            }
            let cancelled = run.operation("cancelled", mayThrow: true) { try await service.bearerToken() }
            let other = run.operation("other", mayThrow: true) { try await service.bearerToken() }
            run.step(cancelling: cancelled)
            run.invariant(invariant) { other.value != nil }
        }
    }
}

private actor CancelsTheLoad: AuthService {
    private var tokenTask: Task<Int, any Error>?
    private let load: Load

    init(load: @escaping Load) {
        self.load = load
    }

    func bearerToken() async throws -> Int {
        note(tokenTask == nil ? "finds no task" : "joins")
        let task =
            tokenTask
            ?? Task {
                defer { tokenTask = nil }
                return try await load()
            }
        tokenTask = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            effect("cancels the load")
            task.cancel()
        }
    }
}
