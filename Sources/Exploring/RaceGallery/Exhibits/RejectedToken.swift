import InterleavingExplorer

@available(Executors, *)
enum RejectedToken {
    private static let title = "Two requests meet an expired access token"
    private static let invariant = "one expired token causes one refresh"

    static let exhibit = Exhibit(
        name: "rejected-token",
        title: title,
        story: """
            Both requests are sent with the same old token, and both are answered with 401. A shared task serves the \
            requests that fail together. A request whose 401 comes after the refresh finds no task to share. One more \
            refresh for this request is one too many, and replaces a good token.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "shared-task",
                summary: "shares a refresh that is running",
                code: Code("Processor", in: "RejectedToken"),
                fault: .breaks(invariant, repair: "rejected-token compares-token"),
                scenario: scenario { processor, _ in await processor.refresh() }
            ),
            Version(
                name: "compares-token",
                summary: "refreshes only if the rejected token is still the current one",
                code: Code("Processor", in: "RejectedToken"),
                scenario: scenario { processor, rejected in await processor.refresh(ifCurrentIs: rejected) }
            ),
        ]
    )

    private static func scenario(
        _ handle401: @escaping @Sendable (Processor, _ rejected: Int) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let processor = Processor { await run.pause("new token") }
            for name in ["first", "second"] {
                run.operation(name) {
                    let sent = await processor.token
                    let hasExpired = sent == 1
                    await run.pause(hasExpired ? "401" : "200")
                    if hasExpired { await handle401(processor, sent) }
                }
            }
            run.invariant(invariant) { await processor.refreshes <= 1 }
        }
    }
}

/// Its first token has expired.
private actor Processor {
    private(set) var token = 1
    private(set) var refreshes = 0
    private var refreshTask: Task<Void, Never>?
    private let exchange: @Sendable () async -> Void

    init(exchange: @escaping @Sendable () async -> Void) {
        self.exchange = exchange
    }

    func refresh(ifCurrentIs rejected: Int) async {
        if rejected == token { await refresh() }
    }

    func refresh() async {
        let task =
            refreshTask
            ?? Task {
                defer { refreshTask = nil }
                refreshes += 1
                note("sends refresh token R\(token)")
                await exchange()
                token += 1
            }
        refreshTask = task
        await task.value
    }
}
