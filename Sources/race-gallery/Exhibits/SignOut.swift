import InterleavingExplorer

/// The user signs out while a token is being loaded.
enum SignOut {
    private static let title = "A user signs out during a load"

    static let exhibit = Exhibit(
        name: "sign-out",
        title: title,
        story: """
            The answer to a load that was sent before the sign-out comes after it, and is stored: the last user is \
            signed in again. To cancel the load is a request that an answer on its way need not heed. What holds is \
            to ask, in the step that stores, whether it is still the session for which the load was begun.
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
