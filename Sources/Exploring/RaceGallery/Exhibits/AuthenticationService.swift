import InterleavingExplorer

@available(Executors, *)
enum AuthenticationService {
    static let exhibit = Exhibit(
        name: "authentication-service",
        title: SharedLoad.title,
        story: """
            While the work for a token runs, every caller awaits one task. `tokenTask` must be nil again when the work \
            is over, however it ended. The obvious place to clear it is a defer in the method that all callers run. \
            But the callers wake one after another. An early one asks again and starts a new task, and a late one \
            clears that task: the next caller starts a second load beside it. No load has to fail for that, and no \
            caller has to ask twice: four callers that ask once each are enough. The task itself is the only one that \
            knows when it is over.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                name: "version-1",
                summary: "does the work for each caller: keychain, expiry, refresh, store",
                code: Code("AuthServiceVersion1", in: "AuthenticationService"),
                listings: [Listing(article: .reentrancy, name: "version 1: the naive service")],
                fault: .breaks(SharedLoad.oneAtATime, repair: "authentication-service load-clears"),
                scenario: scenario { AuthServiceVersion1(fetchValidToken: $0) }
            ),
            Version(
                name: "version-2",
                summary: "shares tokenTask, and clears it in every caller's defer",
                code: Code("AuthServiceVersion2", in: "AuthenticationService"),
                listings: [Listing(article: .reentrancy, name: "version 2: tokenTask")],
                fault: .breaks(SharedLoad.oneAtATime, repair: "authentication-service load-clears"),
                scenario: scenario { AuthServiceVersion2(fetchValidToken: $0) }
            ),
            Version(
                name: "version-2-no-failure",
                summary: "version 2, and every load succeeds",
                code: Code("AuthServiceVersion2", in: "AuthenticationService"),
                listings: [Listing(article: .reentrancy, name: "version 2: tokenTask, and every refresh succeeds")],
                fault: .breaks(SharedLoad.oneAtATime, repair: "authentication-service load-clears-no-failure"),
                scenario: scenario(firstLoadFails: false) { AuthServiceVersion2(fetchValidToken: $0) }
            ),
            Version(
                name: "version-2-two-callers",
                summary: "version 2, and two callers that ask once each, as in the article's app",
                code: Code("AuthServiceVersion2", in: "AuthenticationService"),
                listings: [Listing(article: .reentrancy, name: "version 2 in the article's app: two calls")],
                scenario: asksOnce(callers: 2) { AuthServiceVersion2(fetchValidToken: $0) }
            ),
            Version(
                name: "version-2-four-callers",
                summary: "version 2, and four callers that ask once each",
                code: Code("AuthServiceVersion2", in: "AuthenticationService"),
                fault: .breaks(SharedLoad.oneAtATime, repair: "authentication-service load-clears"),
                scenario: asksOnce(callers: 4) { AuthServiceVersion2(fetchValidToken: $0) }
            ),
            Version(
                name: "load-clears",
                summary: "shares tokenTask, which clears itself with its last step",
                code: Code("AuthServiceRepaired", in: "AuthenticationService"),
                scenario: scenario { AuthServiceRepaired(fetchValidToken: $0) }
            ),
            Version(
                name: "load-clears-no-failure",
                summary: "the same, and every load succeeds",
                code: Code("AuthServiceRepaired", in: "AuthenticationService"),
                scenario: scenario(firstLoadFails: false) { AuthServiceRepaired(fetchValidToken: $0) }
            ),
        ]
    )

    private static func scenario(
        firstLoadFails: Bool = true,
        _ make: @escaping @Sendable (@escaping Load) -> any AuthService
    ) -> Scenario {
        SharedLoad.scenario(firstLoadFails: firstLoadFails) {
            make(work(for: $0))
        } ask: {
            try await $0.bearerToken()
        }
    }

    private static func asksOnce(
        callers: Int,
        _ make: @escaping @Sendable (@escaping Load) -> any AuthService
    ) -> Scenario {
        SharedLoad.asksOnce(callers: callers) {
            make(work(for: $0))
        } ask: {
            try await $0.bearerToken()
        }
    }

    private static func work(for refresh: @escaping Load) -> Load {
        {
            note("reads the keychain: the token has expired")
            let token = try await refresh()
            note("stores token \(token) in the keychain")
            return token
        }
    }
}

protocol AuthService: Actor {
    func bearerToken() async throws -> Int
}

actor AuthServiceVersion1: AuthService {
    private let fetchValidToken: Load

    init(fetchValidToken: @escaping Load) {
        self.fetchValidToken = fetchValidToken
    }

    func bearerToken() async throws -> Int {
        try await fetchValidToken()
    }
}

/// Version 2: each caller clears the task, and may clear a newer task than the one that it awaited.
///
/// The forced unwrapping does not trap: the task is read in the step that has set it, before the caller waits.
/// Neither version keeps the token: every call without a task reads the keychain again.
actor AuthServiceVersion2: AuthService {
    private var tokenTask: Task<Int, any Error>?
    private let fetchValidToken: Load

    init(fetchValidToken: @escaping Load) {
        self.fetchValidToken = fetchValidToken
    }

    func bearerToken() async throws -> Int {
        if tokenTask == nil {
            tokenTask = Task { try await fetchValidToken() }
        }
        defer { tokenTask = nil }
        // swift-format-ignore: NeverForceUnwrap
        return try await tokenTask!.value
    }
}

/// The task clears itself: no caller can be between its end and the clearing.
actor AuthServiceRepaired: AuthService {
    private var tokenTask: Task<Int, any Error>?
    private let fetchValidToken: Load

    init(fetchValidToken: @escaping Load) {
        self.fetchValidToken = fetchValidToken
    }

    func bearerToken() async throws -> Int {
        let task =
            tokenTask
            ?? Task {
                defer { tokenTask = nil }
                return try await fetchValidToken()
            }
        tokenTask = task
        return try await task.value
    }
}
