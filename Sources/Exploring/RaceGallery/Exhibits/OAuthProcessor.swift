import InterleavingExplorer

/// The OAuth client's processor: it keeps a token, and shares the task of a refresh.
@available(Executors, *)
enum OAuthProcessor {
    static let exhibit = Exhibit(
        name: "oauth-processor",
        title: SharedLoad.title,
        story: """
            The processor has an expired token. It looks for a running task, then for a valid token, and then starts \
            a task. The caller that started the task stores the token, and clears the task. It does so after a \
            success only: a task that has failed stays, and its error is the answer to every later call.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                "version-1",
                "checks isValid, awaits the request, stores the token",
                of: Listing(.oauthClient, "first version: isValid, request, store"),
                breaks: SharedLoad.oneAtATime,
                repair: "oauth-processor load-clears",
                SharedLoad.scenario(OAuthProcessorVersion1.init) { try await $0.token() }
            ),
            Version(
                "final",
                "awaits tokenTask; the caller that started it stores and clears after a success",
                of: Listing(.oauthClient, "final version: tokenTask"),
                breaks: SharedLoad.served,
                repair: "oauth-processor load-clears",
                SharedLoad.scenario(OAuthProcessorFinal.init) { try await $0.token() }
            ),
            Version(
                "load-clears",
                "awaits tokenTask, which stores the token and clears itself, failed or not",
                SharedLoad.scenario(OAuthProcessorRepaired.init) { try await $0.token() }
            ),
        ]
    )
}

@available(Executors, *)
struct OAuthToken: Sendable {
    let accessToken: Int
    let isValid: Bool

    static let expired = OAuthToken(accessToken: 0, isValid: false)
}

@available(Executors, *)
actor OAuthProcessorVersion1 {
    private var current = OAuthToken.expired
    private let performTokenRequest: Load

    init(performTokenRequest: @escaping Load) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> Int {
        if current.isValid { return current.accessToken }
        let new = OAuthToken(accessToken: try await performTokenRequest(), isValid: true)
        current = new
        return new.accessToken
    }
}

/// A failure leaves the method before `tokenTask` is cleared.
@available(Executors, *)
actor OAuthProcessorFinal {
    private var current = OAuthToken.expired
    private var tokenTask: Task<Int, any Error>?
    private let performTokenRequest: Load

    init(performTokenRequest: @escaping Load) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> Int {
        if let tokenTask { return try await tokenTask.value }
        if current.isValid { return current.accessToken }
        let started = Task { try await performTokenRequest() }
        tokenTask = started
        let new = OAuthToken(accessToken: try await started.value, isValid: true)
        current = new
        tokenTask = nil
        return new.accessToken
    }
}

@available(Executors, *)
actor OAuthProcessorRepaired {
    private var current = OAuthToken.expired
    private var tokenTask: Task<Int, any Error>?
    private let performTokenRequest: Load

    init(performTokenRequest: @escaping Load) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> Int {
        if let tokenTask { return try await tokenTask.value }
        if current.isValid { return current.accessToken }
        let started = Task {
            defer { tokenTask = nil }
            current = OAuthToken(accessToken: try await performTokenRequest(), isValid: true)
            return current.accessToken
        }
        tokenTask = started
        return try await started.value
    }
}
