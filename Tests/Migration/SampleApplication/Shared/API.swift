/// Stands for a server that tells those who show an access token what is theirs.
package struct API: Sendable {
    package struct Unauthorized: Error {}

    private let authorization: AuthorizationServer

    package init(authorization: AuthorizationServer) {
        self.authorization = authorization
    }

    package func user(bearer: String, then handler: @escaping @Sendable (Result<String, any Error>) -> Void) {
        answer(bearer, handler) { "user \($0)" }
    }

    package func friends(bearer: String, then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
        answer(bearer, handler) { ["friend of user \($0)"] }
    }

    package func user(bearer: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            user(bearer: bearer) { continuation.resume(with: $0) }
        }
    }

    package func friends(bearer: String) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            friends(bearer: bearer) { continuation.resume(with: $0) }
        }
    }

    private func answer<Value: Sendable>(
        _ bearer: String,
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ value: @escaping @Sendable (_ user: Int) -> Value
    ) {
        let user = authorization.user(of: bearer)
        authorization.send { handler(user.map { .success(value($0)) } ?? .failure(Unauthorized())) }
    }
}
