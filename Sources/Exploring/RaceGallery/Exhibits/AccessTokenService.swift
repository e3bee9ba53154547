import Dispatch
import InterleavingExplorer

/// The callback service: an array of pending handlers, and the queue that protects it.
@available(Executors, *)
enum AccessTokenService {
    private static let title = "A screen asks for a token twice, and another screen once"
    private static let oneLoad = "one load"

    static let exhibit = Exhibit(
        name: "access-token-service",
        title: title,
        story: """
            The service loads a token if it has no valid one. With the first version, each call causes a load. An \
            array of pending handlers lets later callers wait for the first one's load, but two threads may change \
            the array at the same time. A serial queue protects the array. So does a rule: not everything has to be \
            thread-safe. If all callers are on the main thread, the array needs no protection. A weak reference to \
            the service loses all handlers if its owner goes away during a load.
            """,
        invariants: [oneLoad, "all have a token", "the handlers of one caller are called in order"],
        versions: [
            Version(
                "version-1",
                "loads when it finds no valid token",
                of: Listing(.accessTokenService, "version 1: loads when there is no valid token"),
                breaks: oneLoad,
                repair: "access-token-service version-2",
                scenario { _, loader in AccessTokenServiceVersion1(loader: loader) }
            ),
            Version(
                "version-2",
                "pending handlers that nothing protects",
                of: Listing(.accessTokenService, "version 2: pending handlers"),
                unseenFault: "a data race (thread sanitizer)",
                repair: "access-token-service version-3",
                scenario { _, loader in AccessTokenServiceVersion2(loader: loader) }
            ),
            Version(
                "version-3",
                "pending handlers on a serial queue, which a test can pass in",
                of: Listing(.accessTokenService, "version 3: pending handlers on a queue"),
                scenario { run, loader in AccessTokenServiceVersion3(loader: loader, queue: run.controlledQueue()) }
            ),
            Version(
                "owner-leaves",
                "version 3, whose last strong reference goes after the calls",
                of: Listing(.accessTokenService, "version 3: a weak reference in the load"),
                breaks: "lost waiter",
                repair: "access-token-service keeps-itself",
                scenario(ownerLeaves: true) { run, loader in
                    AccessTokenServiceVersion3(loader: loader, queue: run.controlledQueue())
                }
            ),
            Version(
                "keeps-itself",
                "strong references: the load keeps the service until the answer",
                scenario(ownerLeaves: true) { run, loader in
                    AccessTokenServiceKept(loader: loader, queue: run.controlledQueue())
                }
            ),
            Version(
                "main-thread",
                "version 2, and one thread for all who touch it",
                of: Listing(.accessTokenService, "conclusion: on one thread no queue is needed"),
                onMainThread
            ),
        ]
    )

    private static func scenario(
        ownerLeaves: Bool = false,
        _ service: @escaping @Sendable (ScenarioRun, any TokenLoader) -> any TokenRetrieving
    ) -> Scenario {
        Scenario(title) { run in
            let owner = Owner(service(run, NetworkLoader(run: run) { $0() }))
            check(run, calls: ownerLeaves ? 2 : 3) { handler in
                owner.service?.retrieveToken(then: handler)
            } afterwards: {
                guard ownerLeaves else { return }
                note("goes away")
                owner.service = nil
            }
        }
    }

    /// A controlled queue stands for the main thread.
    private static var onMainThread: Scenario {
        Scenario(title) { run in
            let main = run.queue("main thread")
            let loader = NetworkLoader(run: run) { main.async("answer", execute: $0) }
            let service = AccessTokenServiceVersion2(loader: loader)
            check(run, calls: 3) { handler in
                main.async("asks") { service.retrieveToken(then: handler) }
            }
        }
    }

    /// The first two calls are those of one screen.
    private static func check(
        _ run: ScenarioRun,
        calls: Int,
        _ retrieve: @escaping @Sendable (@escaping TokenHandler) -> Void,
        afterwards: @escaping @Sendable () -> Void = {}
    ) {
        let screens = [["first", "second"], ["third"]].prefix(calls - 1).map { names in
            run.operation(names.joined(separator: " and ")) {
                try await withCheckedThrowingContinuation { continuation in
                    for name in names {
                        note("asks: \(name)")
                        retrieve { result in
                            effect("answers \(name)")
                            if name == names.last { continuation.resume(with: result) }
                        }
                    }
                    afterwards()
                }
            }
        }
        run.invariant(oneLoad) { run.effects.count { $0 == NetworkLoader.effect } == 1 }
        run.invariant("all have a token") { screens.allSatisfy { $0.value?.isValid == true } }
        run.invariant("the handlers of one caller are called in order") {
            run.effects.filter { ["answers first", "answers second"].contains($0) }.first == "answers first"
        }
    }
}

@available(Executors, *)
extension ScenarioRun {
    /// A real queue, whose blocks run when the schedule says so.
    fileprivate func controlledQueue() -> DispatchQueue {
        let queue = DispatchQueue(label: "access-token-service")
        control(queue)
        return queue
    }
}

/// Holds the only strong reference to a service.
// Safe: the explorer runs one step at a time.
@available(Executors, *)
private final class Owner: @unchecked Sendable {
    var service: (any TokenRetrieving)?

    init(_ service: any TokenRetrieving) {
        self.service = service
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
        run.step("token") { deliver { handler(.success(CachedToken(value: 1, isValid: true))) } }
    }
}
