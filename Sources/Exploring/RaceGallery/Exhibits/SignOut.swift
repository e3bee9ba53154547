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
                "late-result-wins",
                "stores whatever the load brings",
                breaks: invariant,
                repair: "sign-out epoch",
                scenario { session, _ in
                    await session.load()
                } signOut: {
                    $0.forget()
                }
            ),
            Version(
                "cancels",
                "cancels the load, and stores what it brings",
                breaks: invariant,
                repair: "sign-out epoch",
                scenario { session, _ in
                    await session.load()
                } signOut: { session in
                    session.forget()
                    session.task?.cancel()
                }
            ),
            Version(
                "epoch",
                "stores a result of the present session only",
                scenario {
                    await $0.load(for: $1)
                } signOut: {
                    $0.forget()
                }
            ),
        ]
    )

    private static func scenario(
        load: @escaping @Sendable (isolated Session, _ epoch: Int) async -> Void,
        signOut: @escaping @Sendable (isolated Session) -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let session = Session { await run.pause("token") }
            run.operation("caller") { await session.run(load) }
            run.operation("user") { await signOut(session) }
            run.invariant(invariant) { await session.cached == nil }
        }
    }
}

@available(Executors, *)
private actor Session {
    private(set) var cached: Int?
    private(set) var task: Task<Void, Never>?
    private var isSignedIn = true
    private var epoch = 0
    /// A server that has answered already cannot be cancelled any more.
    private let server: @Sendable () async -> Void

    init(server: @escaping @Sendable () async -> Void) {
        self.server = server
    }

    func run(_ load: @escaping @Sendable (isolated Session, _ epoch: Int) async -> Void) async {
        guard isSignedIn else { return }
        note("starts a load")
        let task = Task { [epoch] in await load(self, epoch) }
        self.task = task
        await task.value
    }

    func load() async {
        await server()
        store()
    }

    func load(for begun: Int) async {
        await server()
        if epoch == begun { store() }
    }

    private func store() {
        cached = 1
        note("stores the token")
    }

    func forget() {
        note("signs out")
        isSignedIn = false
        cached = nil
        epoch += 1
    }
}
