import InterleavingExplorer

/// One processor sends the requests of several sessions, and a rotating server answers them.
@available(Executors, *)
enum OAuthProcessor {
    private static let title = "Two requests meet an expired access token"

    static let exhibit = Exhibit(
        name: "oauth-processor",
        title: title,
        story: """
            Both requests are sent with the same old token, and both are answered with 401. The server rotates: it \
            takes each refresh token once, and a second use signs the user out. A shared task serves the requests \
            that fail together. It must be cleared after an error too, or every later request gets that error. A \
            request whose 401 comes after the refresh finds no task to share. One more refresh for this request is \
            one too many, and replaces a good token. (Where a refresh can fail, the first one does.)
            """,
        invariants: [
            "no refresh token is used twice", "one expired token causes one refresh", "both are answered in the end",
        ],
        versions: [
            .faulty(
                "refresh-per-request",
                breaks: "no refresh token is used twice",
                "each 401 causes a refresh",
                scenario(.each, firstRefreshFails: false)
            ),
            .wrongFix(
                "success-clears",
                breaks: "both are answered in the end",
                "shares a refresh, and clears its task when it succeeds",
                scenario(.sharedUntilSuccess, firstRefreshFails: true)
            ),
            .wrongFix(
                "shared-task",
                breaks: "one expired token causes one refresh",
                "shares a refresh that is running",
                scenario(.shared, firstRefreshFails: false)
            ),
            .fix(
                "compares-token",
                "refreshes only if the rejected token is still the current one",
                scenario(.sharedAndCompared, firstRefreshFails: true)
            ),
        ]
    )

    private static func scenario(_ style: Processor.Style, firstRefreshFails: Bool) -> Scenario {
        Scenario(title) { run in
            let server = Server(isReachable: !firstRefreshFails)
            let processor = Processor(style, server) { await run.pause($0) }
            let requests = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    do {
                        try await processor.send()
                    } catch {
                        note("sends again")
                        try await processor.send()
                    }
                }
            }
            run.invariant("no refresh token is used twice") { await server.reuses == 0 }
            run.invariant("one expired token causes one refresh") { await server.refreshes <= 1 }
            run.invariant("both are answered in the end") { requests.allSatisfy { $0.error == nil } }
        }
    }
}

/// Access token 1 has expired; the refresh token of the same number is good once.
@available(Executors, *)
private actor Server {
    private(set) var refreshes = 0
    private(set) var reuses = 0
    private var current = 1
    private var isReachable: Bool

    init(isReachable: Bool) {
        self.isReachable = isReachable
    }

    static func accepts(_ token: Int) -> Bool {
        token > 1
    }

    /// If the server is not reachable, only this request does not get through.
    func refresh(_ token: Int) throws -> Int {
        guard isReachable else {
            isReachable = true
            throw NotReachable()
        }
        refreshes += 1
        note("uses refresh token R\(token)\(token == current ? "" : " again")")
        if token != current {
            reuses += 1
        }
        current += 1
        return current
    }
}

@available(Executors, *)
private struct NotReachable: Error {}

@available(Executors, *)
private actor Processor {
    enum Style: Sendable {
        case each
        case sharedUntilSuccess
        case shared
        case sharedAndCompared
    }

    private var token = 1
    private var refreshTask: Task<Void, any Error>?
    private let style: Style
    private let server: Server
    private let network: @Sendable (String) async -> Void

    init(_ style: Style, _ server: Server, network: @escaping @Sendable (String) async -> Void) {
        self.style = style
        self.server = server
        self.network = network
    }

    func send() async throws {
        // Authorization: Bearer
        let sent = token
        let isAccepted = Server.accepts(sent)
        await network(isAccepted ? "200" : "401")
        guard !isAccepted else { return }
        note("A\(sent) rejected, current is A\(token)")
        switch style {
        case .each:
            try await refresh()
        case .sharedUntilSuccess, .shared:
            try await (refreshTask ?? start()).value
        case .sharedAndCompared:
            if sent == token {
                try await (refreshTask ?? start()).value
            }
        }
    }

    private func start() -> Task<Void, any Error> {
        let task = Task {
            defer { if style != .sharedUntilSuccess { refreshTask = nil } }
            try await refresh()
            refreshTask = nil
        }
        refreshTask = task
        return task
    }

    private func refresh() async throws {
        do {
            let new = try await server.refresh(token)
            await network("A\(new)")
            token = new
        } catch {
            note("the refresh fails")
            throw error
        }
    }
}
