import Dispatch
import InterleavingExplorer

@available(Executors, *)
enum GuardingQueue {
    private static let title = "A screen asks for a token twice, and another screen once"
    private static let oneLoad = "one load"
    private static let inOrder = "the handlers of one caller are called in order"

    static let exhibit = Exhibit(
        name: "access-token-service",
        title: title,
        story: """
            The service loads a token if it has no valid one. With the first version, each call causes a load. An \
            array of pending handlers lets later callers wait for the first one's load, but two threads may change \
            the array at the same time. A serial queue protects the array. So does a rule: not everything has to be \
            thread-safe. If all callers are on the main thread, the array needs no protection. But a handler that \
            asks again there is answered at once, before handlers that have waited longer. A weak reference to the \
            service loses all handlers if its owner goes away during a load.
            """,
        invariants: [oneLoad, "all have a token", inOrder],
        versions: [
            Version(
                name: "version-1",
                summary: "loads when it finds no valid token",
                code: Code("AccessTokenServiceVersion1", in: "GuardingQueue+Versions"),
                listings: [
                    Listing(article: .accessTokenService, name: "version 1: loads when there is no valid token")
                ],
                fault: .breaks(oneLoad, repair: "access-token-service version-2"),
                scenario: scenario { AccessTokenServiceVersion1(loader: $1) }
            ),
            Version(
                name: "version-2",
                summary: "pending handlers that nothing protects",
                code: Code("AccessTokenServiceVersion2", in: "GuardingQueue+Versions"),
                listings: [Listing(article: .accessTokenService, name: "version 2: pending handlers")],
                fault: .unseen("a data race (thread sanitizer)", repair: "access-token-service version-3"),
                scenario: scenario { AccessTokenServiceVersion2(loader: $1) }
            ),
            Version(
                name: "version-3",
                summary: "pending handlers on a serial queue, which a test can pass in",
                code: Code("AccessTokenServiceVersion3", in: "GuardingQueue+Versions"),
                listings: [Listing(article: .accessTokenService, name: "version 3: pending handlers on a queue")],
                scenario: scenario(asksAgain: true) { AccessTokenServiceVersion3(loader: $1, queue: queue(of: $0)) }
            ),
            Version(
                name: "owner-leaves",
                summary: "version 3, whose last strong reference goes after the calls",
                code: Code("AccessTokenServiceVersion3", in: "GuardingQueue+Versions"),
                listings: [Listing(article: .accessTokenService, name: "version 3: a weak reference in the load")],
                fault: .breaks("lost waiter", repair: "access-token-service kept-by-handlers"),
                scenario: ownerLeaves { $0.retrieveToken(then: $1) }
            ),
            Version(
                name: "kept-by-handlers",
                summary: "version 3, whose handlers keep it until they are called",
                code: Code("ownerLeaves", in: "GuardingQueue"),
                scenario: ownerLeaves { service, handler in
                    service.retrieveToken { result in withExtendedLifetime(service) { handler(result) } }
                }
            ),
            Version(
                name: "main-thread",
                summary: "version 2, and one thread for all who touch it",
                code: Code("AccessTokenServiceVersion2", in: "GuardingQueue+Versions"),
                listings: [Listing(article: .accessTokenService, name: "conclusion: on one thread no queue is needed")],
                scenario: onMainThread(asksAgain: false)
            ),
            Version(
                name: "asks-again",
                summary: "the same, and the first handler asks once more before it returns",
                code: Code("AccessTokenServiceVersion2", in: "GuardingQueue+Versions"),
                listings: [Listing(article: .accessTokenService, name: "version 2: handlers in the correct order")],
                fault: .breaks(inOrder, repair: "access-token-service version-3"),
                scenario: onMainThread(asksAgain: true)
            ),
        ]
    )

    private static func scenario(
        asksAgain: Bool = false,
        _ make: @escaping @Sendable (ScheduledRun, any TokenLoader) -> any TokenRetrieving
    ) -> Scenario {
        Scenario(title) { run in
            let service = make(run, NetworkLoader(run: run) { $0() })
            check(run, asksAgain: asksAgain ? service.retrieveToken : nil) { service.retrieveToken }
        }
    }

    /// A real queue, whose blocks run when the schedule says so.
    private static func queue(of run: ScheduledRun) -> DispatchQueue {
        let queue = DispatchQueue(label: "access-token-service")
        run.control(queue)
        return queue
    }

    /// The screen makes a service, and lets it go after its calls.
    private static func ownerLeaves(
        _ retrieve: @escaping @Sendable (AccessTokenServiceVersion3, @escaping TokenHandler) -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let queue = queue(of: run)
            check(run, screens: [["first", "second"]]) {
                let service = AccessTokenServiceVersion3(loader: NetworkLoader(run: run) { $0() }, queue: queue)
                return { retrieve(service, $0) }
            }
        }
    }

    /// A controlled queue stands for the main thread.
    private static func onMainThread(asksAgain: Bool) -> Scenario {
        Scenario(title) { run in
            let main = run.queue("main thread")
            let loader = NetworkLoader(run: run) { main.async("answer", execute: $0) }
            let service = AccessTokenServiceVersion2(loader: loader)
            // Who is on the main thread already calls directly.
            check(run, asksAgain: asksAgain ? service.retrieveToken : nil) {
                { handler in main.async("asks") { service.retrieveToken(then: handler) } }
            }
        }
    }

    /// - Parameters:
    ///   - screens: the calls of each.
    ///   - retrieveAgain: what the handler of the first call calls once more, if it does.
    ///   - open: what a screen calls, and keeps until its last call.
    private static func check(
        _ run: ScheduledRun,
        screens: [[String]] = [["first", "second"], ["third"]],
        asksAgain retrieveAgain: (@Sendable (@escaping TokenHandler) -> Void)? = nil,
        open: @escaping @Sendable () -> (@escaping TokenHandler) -> Void
    ) {
        let screens = screens.map { names in
            run.operation(names.joined(separator: " and ")) {
                // A version that loses its handlers is meant to: a checked continuation would report that as misuse.
                try await unsafe withUnsafeThrowingContinuation { continuation in
                    let retrieve = open()
                    for name in names {
                        note("asks: \(name)")
                        retrieve { result in
                            effect("answers \(name)")
                            if name == "first" { retrieveAgain? { _ in effect("answers again") } }
                            if name == names.last { unsafe continuation.resume(with: result) }
                        }
                    }
                }
            }
        }
        run.invariant(oneLoad) { run.effects.count { $0 == NetworkLoader.effect } == 1 }
        run.invariant("all have a token") { screens.allSatisfy { $0.value?.isValid == true } }
        run.invariant(inOrder) {
            let calls = ["first", "second"] + (retrieveAgain == nil ? [] : ["again"])
            let answers = calls.map { "answers \($0)" }
            return run.effects.filter(answers.contains) == answers
        }
    }
}

@available(Executors, *)
private struct NetworkLoader: TokenLoader {
    static let effect = "sends a request"

    let run: ScheduledRun
    /// Where answers are handled.
    let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void

    func load(then handler: @escaping TokenHandler) {
        run.effect(Self.effect)
        run.step("token") { deliver { handler(.success(CachedToken(value: 1, isValid: true))) } }
    }
}
