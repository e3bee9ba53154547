import InterleavingExplorer

/// One processor sends the requests of several sessions, and a rotating server answers them.
enum OAuthProcessor {
    private static let title = "Two requests meet an expired access token"

    static let exhibit = Exhibit(
        name: "oauth-processor",
        title: title,
        story: """
            Both requests are sent with the same old token and both are answered with 401. The server rotates: it \
            takes each refresh token once, and a second use signs the user out. A shared task sees to the requests \
            that fail together. It does not help the one whose 401 comes when the refresh is over: to ask the server \
            once more is one refresh too many, and on the way it throws away a token that is good.
            """,
        invariants: ["no refresh token is used twice", "one expired token causes one refresh"],
        versions: [
            .faulty(
                "refresh-per-request",
                breaks: "no refresh token is used twice",
                "each 401 causes a refresh",
                scenario(.each)
            ),
            .wrongFix(
                "shared-task",
                breaks: "one expired token causes one refresh",
                "shares a refresh that is under way",
                scenario(.shared)
            ),
            .fix(
                "compares-token",
                "refreshes only if the rejected token is still the current one",
                scenario(.sharedAndCompared)
            ),
        ]
    )

    private static func scenario(_ style: Processor.Style) -> Scenario {
        Scenario(title) { run in
            let server = Server()
            let processor = Processor(style, server) { await run.pause($0) }
            for name in ["first", "second"] {
                run.operation(name) { await processor.send() }
            }
            run.invariant("no refresh token is used twice") { await server.reuses == 0 }
            run.invariant("one expired token causes one refresh") { await server.refreshes == 1 }
        }
    }
}

/// Access token 1 has expired; the refresh token of the same number is good once.
private actor Server {
    private(set) var refreshes = 0
    private(set) var reuses = 0
    private var current = 1

    func accepts(_ token: Int) -> Bool {
        token > 1
    }

    func refresh(_ token: Int) -> Int {
        refreshes += 1
        note("uses refresh token R\(token)\(token == current ? "" : " again")")
        if token != current {
            reuses += 1
        }
        current += 1
        return current
    }
}

private actor Processor {
    enum Style: Sendable {
        case each
        case shared
        case sharedAndCompared
    }

    private var token = 1
    private var refreshTask: Task<Void, Never>?
    private let style: Style
    private let server: Server
    private let network: @Sendable (String) async -> Void

    init(_ style: Style, _ server: Server, network: @escaping @Sendable (String) async -> Void) {
        self.style = style
        self.server = server
        self.network = network
    }

    func send() async {
        // Authorization: Bearer
        let sent = token
        let isAccepted = await server.accepts(sent)
        await network(isAccepted ? "200" : "401")
        guard !isAccepted else { return }
        note("A\(sent) rejected, current is A\(token)")
        switch style {
        case .each:
            await refresh()
        case .shared:
            await (refreshTask ?? start()).value
        case .sharedAndCompared:
            if sent == token {
                await (refreshTask ?? start()).value
            }
        }
    }

    private func start() -> Task<Void, Never> {
        let task = Task {
            await refresh()
            refreshTask = nil
        }
        refreshTask = task
        return task
    }

    private func refresh() async {
        let new = await server.refresh(token)
        await network("A\(new)")
        token = new
    }
}
