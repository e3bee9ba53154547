import InterleavingExplorer

/// The user signs out while a token is being loaded.
@available(Executors, *)
enum SignOut {
    private static let title = "A user signs out during a load"
    private static let invariant = "signed out is signed out"

    static let exhibit = Exhibit(
        name: "sign-out",
        title: title,
        story: """
            A load is sent, then the user signs out, then the answer comes and is stored: the last user is signed in \
            again. Cancelling the load is not enough, since an answer that is on its way ignores the cancellation. \
            The step that stores a result must check that the session of the load is still the present one.
            """,
        invariants: [invariant],
        versions: [
            Version(
                "cancels",
                "cancels the load, and stores what it brings",
                breaks: invariant,
                repair: "sign-out epoch",
                scenario(CancelsSession.init)
            ),
            Version(
                "epoch",
                "stores a result of the present session only",
                scenario(CountsSessions.init)
            ),
        ]
    )

    private static func scenario<Session: TokenSession>(
        _ make: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Session
    ) -> Scenario {
        Scenario(title) { run in
            // A server that has answered already cannot be cancelled any more.
            let session = make { await run.pause("token") }
            run.operation("caller") { await session.load() }
            run.operation("user") { await session.signOut() }
            run.invariant(invariant) { await session.token == nil }
        }
    }
}

@available(Executors, *)
private protocol TokenSession: Actor {
    var token: Int? { get }
    func load() async
    func signOut()
}

@available(Executors, *)
private actor CancelsSession: TokenSession {
    private(set) var token: Int?
    private var isSignedIn = true
    private var task: Task<Void, Never>?
    private let server: @Sendable () async -> Void

    init(server: @escaping @Sendable () async -> Void) {
        self.server = server
    }

    func load() async {
        guard isSignedIn else { return }
        note("starts a load")
        let task = Task {
            await server()
            token = 1
            note("stores the token")
        }
        self.task = task
        await task.value
    }

    func signOut() {
        note("signs out")
        isSignedIn = false
        token = nil
        task?.cancel()
    }
}

@available(Executors, *)
private actor CountsSessions: TokenSession {
    private(set) var token: Int?
    private var isSignedIn = true
    private var epoch = 0
    private let server: @Sendable () async -> Void

    init(server: @escaping @Sendable () async -> Void) {
        self.server = server
    }

    func load() async {
        guard isSignedIn else { return }
        let begun = epoch
        await server()
        if epoch == begun { token = 1 }
    }

    func signOut() {
        isSignedIn = false
        token = nil
        epoch += 1
    }
}
