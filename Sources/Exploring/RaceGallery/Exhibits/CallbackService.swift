import Dispatch
import InterleavingExplorer

/// The callback service: an array of pending handlers, and the queue that protects it.
@available(Executors, *)
enum CallbackService {
    private static let title = "Two callers with callbacks need a token at the same time"

    static let exhibit = Exhibit(
        name: "access-token-service",
        title: title,
        story: """
            The service loads a token if it has none. With the first version, two callers cause two loads. An array \
            of pending handlers lets the second caller wait for the first one's load, but two threads may change the \
            array at the same time. A serial queue protects the array. So does a rule: not everything has to be \
            thread-safe. If all callers are on the main thread, the array needs no protection.
            """,
        invariants: ["one load", "both callers have a token"],
        versions: [
            .faulty(
                "naive",
                breaks: "one load",
                "loads when it finds no token",
                scenario { _, loader in NaiveAccessTokenService(loader: loader) }
            ),
            .unseen(
                "pending-handlers",
                "a data race (thread sanitizer)",
                "pending handlers that nothing protects",
                scenario { _, loader in PendingHandlersService(loader: loader) }
            ),
            .fix(
                "queue",
                "pending handlers on a serial queue, which is passed to init",
                scenario { run, loader in
                    let queue = DispatchQueue(label: "access-token-service")
                    run.control(queue)
                    return QueuedAccessTokenService(loader: loader, queue: queue)
                }
            ),
            .fix("main-thread", "the unprotected handlers, and one thread for all who touch them", onMainThread),
        ]
    )

    private static func scenario(
        _ service: @escaping @Sendable (ScenarioRun, any TokenLoader) -> any TokenRetrieving
    ) -> Scenario {
        Scenario(title) { run in
            let service = service(run, NetworkLoader(run: run) { $0() })
            check(run) { service.retrieveToken(then: $0) }
        }
    }

    /// A controlled queue stands for the main thread.
    private static var onMainThread: Scenario {
        Scenario(title) { run in
            let main = run.queue("main thread")
            let service = PendingHandlersService(loader: NetworkLoader(run: run) { main.async("answer", execute: $0) })
            check(run) { handler in
                main.async("asks") { service.retrieveToken(then: handler) }
            }
        }
    }

    private static func check(_ run: ScenarioRun, _ retrieve: @escaping @Sendable (@escaping TokenHandler) -> Void) {
        let callers = ["first", "second"].map { name in
            run.operation(name) {
                try await withCheckedThrowingContinuation { continuation in
                    retrieve { continuation.resume(with: $0) }
                }
            }
        }
        run.invariant("one load") { run.effects.count { $0 == NetworkLoader.effect } == 1 }
        run.invariant("both callers have a token") { callers.allSatisfy { $0.value != nil } }
    }
}

@available(Executors, *)
private struct NetworkLoader: TokenLoader {
    static let effect = "sends a request"

    let run: ScenarioRun
    /// Where answers are handled.
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

    func load(then handler: @escaping TokenHandler) {
        run.effect(Self.effect)
        run.step("token") { deliver { handler(.success(1)) } }
    }
}
