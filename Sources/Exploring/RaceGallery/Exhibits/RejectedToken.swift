import InterleavingExplorer

/// Two requests are answered with 401, and the second answer comes after the refresh.
@available(Executors, *)
enum RejectedToken {
    private static let title = "Two requests meet an expired access token"

    static let exhibit = Exhibit(
        name: "rejected-token",
        title: title,
        story: """
            Both requests are sent with the same old token, and both are answered with 401. The server rotates: it \
            takes each refresh token once, and a second use signs the user out. A shared task serves the requests \
            that fail together. A request whose 401 comes after the refresh finds no task to share. One more refresh \
            for this request is one too many, and replaces a good token.
            """,
        invariants: ["no refresh token is used twice", "one expired token causes one refresh"],
        versions: [
            Version(
                "refresh-per-request",
                "each 401 causes a refresh",
                breaks: "no refresh token is used twice",
                repair: "rejected-token compares-token",
                scenario { processor, _ in try await processor.refresh() }
            ),
            Version(
                "shared-task",
                "shares a refresh that is running",
                breaks: "one expired token causes one refresh",
                repair: "rejected-token compares-token",
                scenario { processor, _ in try await processor.sharedRefresh() }
            ),
            Version(
                "compares-token",
                "refreshes only if the rejected token is still the current one",
                scenario { processor, rejected in try await processor.sharedRefresh(ifCurrentIs: rejected) }
            ),
        ]
    )

    private static func scenario(
        _ handle401: @escaping @Sendable (Processor, _ rejected: Int) async throws -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let server = Server()
            let processor = Processor(server) { await run.pause($0) }
            for name in ["first", "second"] {
                run.operation(name, mayThrow: true) {
                    let sent = await processor.token
                    await run.pause(Server.accepts(sent) ? "200" : "401")
                    guard !Server.accepts(sent) else { return }
                    note("A\(sent) is rejected")
                    try await handle401(processor, sent)
                }
            }
            run.invariant("no refresh token is used twice") { await server.reuses == 0 }
            run.invariant("one expired token causes one refresh") { await server.refreshes <= 1 }
        }
    }
}

/// Access token 1 has expired; the refresh token of the same number is good once.
@available(Executors, *)
private actor Server {
    private(set) var refreshes = 0
    private(set) var reuses = 0
    private var current = 1

    static func accepts(_ token: Int) -> Bool { token > 1 }

    func refresh(_ token: Int) -> Int {
        refreshes += 1
        note("uses refresh token R\(token)\(token == current ? "" : " again")")
        if token != current { reuses += 1 }
        current += 1
        return current
    }
}

@available(Executors, *)
private actor Processor {
    private(set) var token = 1
    private var refreshTask: Task<Void, any Error>?
    private let server: Server
    private let network: @Sendable (String) async -> Void

    init(_ server: Server, network: @escaping @Sendable (String) async -> Void) {
        self.server = server
        self.network = network
    }

    func refresh() async throws {
        let new = await server.refresh(token)
        await network("A\(new)")
        token = new
    }

    func sharedRefresh(ifCurrentIs rejected: Int) async throws {
        if rejected == token { try await sharedRefresh() }
    }

    func sharedRefresh() async throws {
        let task =
            refreshTask
            ?? Task {
                defer { refreshTask = nil }
                try await refresh()
            }
        refreshTask = task
        try await task.value
    }
}
