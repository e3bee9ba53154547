import InterleavingExplorer

/// The OAuth client's processor: it keeps a token, and shares the task of a refresh.
@available(Executors, *)
enum OAuthProcessor {
    static let exhibit = Exhibit(
        name: "oauth-processor",
        title: SharedLoad.title,
        story: """
            The processor looks for a running task, then for a valid token, and then starts \
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
                scenario(OAuthProcessorVersion1.init) { try await $0.token() }
            ),
            Version(
                "final",
                "awaits tokenTask; the caller that started it stores and clears after a success",
                of: Listing(.oauthClient, "final version: tokenTask"),
                breaks: SharedLoad.served,
                repair: "oauth-processor load-clears",
                scenario(OAuthProcessorFinal.init) { try await $0.token() }
            ),
            Version(
                "load-clears",
                "awaits tokenTask, which stores the token and clears itself, failed or not",
                scenario(OAuthProcessorRepaired.init) { try await $0.token() }
            ),
        ]
    )

    private static func scenario<Processor: Actor>(
        _ make: @escaping @Sendable (@escaping TokenRequest) -> Processor,
        ask: @escaping @Sendable (Processor) async throws -> OAuthToken
    ) -> Scenario {
        SharedLoad.scenario { load in
            make { OAuthToken(accessToken: try await load(), isValid: true) }
        } ask: {
            try await ask($0).accessToken
        }
    }
}

@available(Executors, *)
struct OAuthToken: Sendable {
    let accessToken: Int
    let isValid: Bool
}

@available(Executors, *)
typealias TokenRequest = @Sendable () async throws -> OAuthToken

@available(Executors, *)
actor OAuthProcessorVersion1 {
    private var current: OAuthToken?
    private let performTokenRequest: TokenRequest

    init(performTokenRequest: @escaping TokenRequest) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> OAuthToken {
        if let current, current.isValid { return current }
        let new = try await performTokenRequest()
        current = new
        return new
    }
}

/// A failure leaves the method before `tokenTask` is cleared.
@available(Executors, *)
actor OAuthProcessorFinal {
    private var current: OAuthToken?
    private var tokenTask: Task<OAuthToken, any Error>?
    private let performTokenRequest: TokenRequest

    init(performTokenRequest: @escaping TokenRequest) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> OAuthToken {
        if let tokenTask { return try await tokenTask.value }
        if let current, current.isValid { return current }
        let started = Task { try await performTokenRequest() }
        tokenTask = started
        let new = try await started.value
        current = new
        tokenTask = nil
        return new
    }
}

@available(Executors, *)
actor OAuthProcessorRepaired {
    private var current: OAuthToken?
    private var tokenTask: Task<OAuthToken, any Error>?
    private let performTokenRequest: TokenRequest

    init(performTokenRequest: @escaping TokenRequest) {
        self.performTokenRequest = performTokenRequest
    }

    func token() async throws -> OAuthToken {
        if let tokenTask { return try await tokenTask.value }
        if let current, current.isValid { return current }
        let started = Task {
            defer { tokenTask = nil }
            let new = try await performTokenRequest()
            current = new
            return new
        }
        tokenTask = started
        return try await started.value
    }
}
