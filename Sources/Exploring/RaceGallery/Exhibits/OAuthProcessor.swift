import InterleavingExplorer

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
                name: "version-1",
                summary: "checks isValid, awaits the request, stores the token",
                code: Code("OAuthProcessorVersion1", in: "OAuthProcessor"),
                listings: [Listing(article: .oauthClient, name: "first version: isValid, request, store")],
                fault: .breaks(SharedLoad.oneAtATime, repair: "oauth-processor load-clears"),
                scenario: scenario { OAuthProcessorVersion1(performTokenRequest: $0) }
            ),
            Version(
                name: "final",
                summary: "awaits tokenTask; the caller that started it stores and clears after a success",
                code: Code("OAuthProcessorFinal", in: "OAuthProcessor"),
                listings: [Listing(article: .oauthClient, name: "final version: tokenTask")],
                fault: .breaks(SharedLoad.served, repair: "oauth-processor load-clears"),
                scenario: scenario { OAuthProcessorFinal(performTokenRequest: $0) }
            ),
            Version(
                name: "load-clears",
                summary: "awaits tokenTask, which stores the token and clears itself, failed or not",
                code: Code("OAuthProcessorRepaired", in: "OAuthProcessor"),
                scenario: scenario { OAuthProcessorRepaired(performTokenRequest: $0) }
            ),
        ]
    )

    private static func scenario(
        _ make: @escaping @Sendable (@escaping TokenRequest) -> any TokenProcessor
    ) -> Scenario {
        SharedLoad.scenario { load in
            make { OAuthToken(accessToken: try await load(), isValid: true) }
        } ask: {
            try await $0.token().accessToken
        }
    }
}

struct OAuthToken: Sendable {
    let accessToken: Int
    let isValid: Bool
}

typealias TokenRequest = @Sendable () async throws -> OAuthToken

protocol TokenProcessor: Actor {
    func token() async throws -> OAuthToken
}

actor OAuthProcessorVersion1: TokenProcessor {
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
actor OAuthProcessorFinal: TokenProcessor {
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

actor OAuthProcessorRepaired: TokenProcessor {
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
