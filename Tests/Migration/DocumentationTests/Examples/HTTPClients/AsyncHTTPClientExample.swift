import AccessTokenAsync

nonisolated enum AsyncHTTPClientExample {
    struct Friends: Sendable {
        let tokens: any AsyncAccessTokenProviding
        let client: HTTPClient

        func friends() async throws -> HTTPClientResponse {
            try await tokens.withToken(isRejected: { $0.status == .unauthorized }) { token in
                var request = HTTPClientRequest(url: "https://api.example/friends")
                request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token.value)")
                return try await client.execute(request, timeout: .seconds(30))
            }
        }
    }
}
