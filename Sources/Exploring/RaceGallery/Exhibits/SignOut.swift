import InterleavingExplorer

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
                name: "cancels",
                summary: "cancels the load, and stores what it brings",
                code: Code("CancelsSession", in: "SignOut"),
                fault: .breaks(invariant, repair: "sign-out epoch"),
                scenario: scenario { CancelsSession() }
            ),
            Version(
                name: "epoch",
                summary: "stores a result of the present session only",
                code: Code("CountsSessions", in: "SignOut"),
                scenario: scenario { CountsSessions() }
            ),
        ]
    )

    private static func scenario(_ make: @escaping @Sendable () -> any TokenSession) -> Scenario {
        Scenario(title) { run in
            let session = make()
            // A server that has answered already cannot be cancelled any more.
            run.operation("caller") { await session.load { await run.pause("token") } }
            run.operation("user") { await session.signOut() }
            run.invariant(invariant) { await session.token == nil }
        }
    }
}

private protocol TokenSession: Actor {
    var token: Int? { get }
    func load(server: @escaping @Sendable () async -> Void) async
    func signOut()
}

private actor CancelsSession: TokenSession {
    private(set) var token: Int?
    private var isSignedIn = true
    private var task: Task<Void, Never>?

    func load(server: @escaping @Sendable () async -> Void) async {
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

private actor CountsSessions: TokenSession {
    private(set) var token: Int?
    private var isSignedIn = true
    private var epoch = 0

    func load(server: @escaping @Sendable () async -> Void) async {
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
