import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import Testing

/// One session at a server that rotates its refresh token, and ends the session when a spent one comes.
///
/// How its replies look is the test's business: the server has carried the request out in any case.
final class StrictSession: Sendable {
    private struct State {
        var newest = 0
        var isRevoked = false
        var sent: [String] = []
    }

    private let state = Locked(State())

    /// The refresh tokens that came, in their order.
    var sent: [String] { state.withLock { $0.sent } }
    var isRevoked: Bool { state.withLock { $0.isRevoked } }

    /// The number of the next pair of tokens; `nil` for a refresh token that is spent.
    func rotate(_ body: String) -> Int? {
        let field = body.split(separator: "&").first { $0.hasPrefix("refresh_token=") }
        let token = String((field ?? "").dropFirst("refresh_token=".count))
        return state.withLock { state in
            state.sent.append(token)
            if token != "RT\(state.newest)" { state.isRevoked = true }
            guard !state.isRevoked else { return nil }
            state.newest += 1
            return state.newest
        }
    }
}

/// A reply to a request that was carried out; the tokens of the pair stand in it somewhere.
struct ReplyShape: Sendable, CustomTestStringConvertible {
    let name: String
    var status = 200
    var fields = ["Content-Type": "application/json"]
    let body: @Sendable (_ access: String, _ refresh: String) -> String

    var testDescription: String { name }

    init(
        _ name: String,
        status: Int = 200,
        type: String = "application/json",
        _ body: @escaping @Sendable (String, String) -> String
    ) {
        self.name = name
        self.status = status
        self.body = body
        fields = ["Content-Type": type]
    }
}

/// Runs a test at a strict server with replies of a shape; what is spent is refused as RFC 6749, section 5.2, has it.
func withStrictServer<Value>(
    replying shape: ReplyShape,
    _ body: (ScriptedServer, StrictSession) async throws -> Value
) async throws -> Value {
    let session = StrictSession()
    return try await withServer { connection, request in
        guard let number = session.rotate(request.body) else {
            return connection.reply(400, #"{"error":"invalid_grant"}"#)
        }
        connection.reply(shape.status, shape.body("A\(number)", "RT\(number)"), fields: shape.fields)
    } _: { server in
        try await body(server, session)
    }
}

/// A store that is a value: each loader of it is as one of another process, which knows what stands in the record only.
struct SharedStore: CredentialStore {
    let base: MemoryCredentialStore
    let takeOverDelay: TimeInterval

    init(_ credential: Credential?, takeOverDelay: TimeInterval = 2) {
        base = MemoryCredentialStore(credential)
        self.takeOverDelay = takeOverDelay
    }

    func load() async throws -> CredentialRecord? { try await base.load() }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
}
