import InterleavingExplorer

/// The authentication service: one task for all callers that need a token.
@available(Executors, *)
enum AuthenticationService {
    static let exhibit = Exhibit(
        name: "authentication-service",
        title: SharedLoad.title,
        story: """
            While the work for a token runs, every caller awaits one task. `tokenTask` must be nil again when the work \
            is over, however it ended. The obvious place to clear it is a defer in the method that all callers run. \
            But the callers wake one after another, and a late one clears the newer task of an early one: two loads \
            at once. The task itself is the only one that knows when it is over.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                "version-1",
                "does the work for each caller: keychain, expiry, refresh, store",
                of: Listing(.reentrancy, "version 1: the naive service"),
                breaks: SharedLoad.oneAtATime,
                repair: "authentication-service load-clears",
                scenario(AuthServiceVersion1.init) { try await $0.bearerToken() }
            ),
            Version(
                "version-2",
                "shares tokenTask, and clears it in every caller's defer",
                of: Listing(.reentrancy, "version 2: tokenTask"),
                breaks: SharedLoad.oneAtATime,
                repair: "authentication-service load-clears",
                scenario(AuthServiceVersion2.init) { try await $0.bearerToken() }
            ),
            Version(
                "load-clears",
                "shares tokenTask, which clears itself with its last step",
                scenario(AuthServiceRepaired.init) { try await $0.bearerToken() }
            ),
        ]
    )

    private static func scenario<Service: Actor>(
        _ make: @escaping @Sendable (@escaping Load) -> Service,
        ask: @escaping @Sendable (Service) async throws -> Int
    ) -> Scenario {
        SharedLoad.scenario(
            { refresh in
                make {
                    note("reads the keychain: the token has expired")
                    let token = try await refresh()
                    note("stores token \(token) in the keychain")
                    return token
                }
            },
            ask: ask
        )
    }
}

/// Version 1: nothing is shared.
@available(Executors, *)
actor AuthServiceVersion1 {
    private let fetchValidToken: Load

    init(fetchValidToken: @escaping Load) {
        self.fetchValidToken = fetchValidToken
    }

    func bearerToken() async throws -> Int {
        try await fetchValidToken()
    }
}

/// Version 2: each caller clears the task, and may clear another task than the one that it awaited.
///
/// Neither version keeps the token: every call without a task reads the keychain again.
@available(Executors, *)
actor AuthServiceVersion2 {
    private var tokenTask: Task<Int, any Error>?
    private let fetchValidToken: Load

    init(fetchValidToken: @escaping Load) {
        self.fetchValidToken = fetchValidToken
    }

    func bearerToken() async throws -> Int {
        let task = tokenTask ?? Task { try await fetchValidToken() }
        tokenTask = task
        defer { tokenTask = nil }
        return try await task.value
    }
}

/// The task clears itself: no caller can be between its end and the clearing.
@available(Executors, *)
actor AuthServiceRepaired {
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
