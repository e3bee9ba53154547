import InterleavingExplorer

/// The user signs out while a token is being loaded.
@available(Executors, *)
enum SignOut {
    private static let title = "A user signs out during a load"

    static let exhibit = Exhibit(
        name: "sign-out",
        title: title,
        story: """
            A load is sent, then the user signs out, then the answer comes and is stored: the last user is signed in \
            again. Cancelling the load is not enough, since an answer that is on its way ignores the cancellation. \
            The step that stores a result must check that the session of the load is still the present one.
            """,
        invariants: ["signed out is signed out"],
        versions: [
            .faulty(
                "late-result-wins",
                breaks: "signed out is signed out",
                "stores whatever the load brings",
                scenario(.storesAlways)
            ),
            .wrongFix(
                "cancels",
                breaks: "signed out is signed out",
                "cancels the load, and stores what it brings",
                scenario(.cancels)
            ),
            .fix("epoch", "stores a result of the present session only", scenario(.comparesEpoch)),
        ]
    )

    private static func scenario(_ style: Session.Style) -> Scenario {
        Scenario(title) { run in
            let session = Session(style) { await run.pause("token") }
            run.operation("caller") { _ = await session.token() }
            run.operation("user") { await session.signOut() }
            run.invariant("signed out is signed out") { await session.cached == nil }
        }
    }
}

@available(Executors, *)
private actor Session {
    enum Style: Sendable {
        case storesAlways
        case cancels
        case comparesEpoch
    }

    private(set) var cached: Int?
    private var isSignedIn = true
    private var epoch = 0
    private var tokenTask: Task<Int, Never>?
    private let style: Style
    private let server: @Sendable () async -> Void

    init(_ style: Style, server: @escaping @Sendable () async -> Void) {
        self.style = style
        self.server = server
    }

    func token() async -> Int? {
        guard isSignedIn else { return nil }
        if let cached {
            return cached
        }
        let task = tokenTask ?? start()
        return await task.value
    }

    func signOut() {
        note("signs out")
        isSignedIn = false
        cached = nil
        epoch += 1
        if style == .cancels {
            tokenTask?.cancel()
        }
        tokenTask = nil
    }

    private func start() -> Task<Int, Never> {
        let begun = epoch
        note("starts a load")
        let task = Task {
            // A server that has answered already cannot be cancelled any more.
            await server()
            if style != .comparesEpoch || begun == epoch {
                cached = 1
                tokenTask = nil
                note("stores the token")
            }
            return 1
        }
        tokenTask = task
        return task
    }
}
