import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import Testing

extension TokenEndpoint {
    /// The deadline of an endpoint in a test: the usual one by a clock that the test sets forward, else an hour.
    ///
    /// A busy machine may need longer than usual, and a suite's time limit ends a test that waits for ever.
    static func deadline(by clock: (any AccessTokenClock)?) -> TimeInterval {
        clock == nil ? 3600 : usualDeadline
    }
}

extension AccessTokenPolicy {
    /// The policy of a service whose loads ask a real server, for the same reason.
    static let withoutLoadDeadline = AccessTokenPolicy(loadDeadline: nil)
}

extension ScriptedServer {
    /// Answers the n-th request with A n and RT n.
    static let rotating: Script = { connection, _ in
        connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
    }

    /// The server as the token endpoint of a public client, and where tokens are revoked.
    ///
    /// - Parameter clock: what a test sets forward.
    func endpoint(
        clock: (any AccessTokenClock)? = nil,
        authentication: ClientAuthentication = .none(clientID: "app")
    ) throws -> TokenEndpoint {
        TokenEndpoint(
            try url,
            authentication: authentication,
            revocationURL: try url.deletingLastPathComponent().appending(path: "revoke"),
            deadline: TokenEndpoint.deadline(by: clock),
            clock: clock ?? SystemClock()
        )
    }
}

extension RotatingAuthorizationServer {
    /// The server as the token endpoint of its public client.
    var endpoint: TokenEndpoint {
        TokenEndpoint(
            tokenEndpoint,
            authentication: .none(clientID: Self.clientID),
            deadline: TokenEndpoint.deadline(by: nil)
        )
    }
}

/// A body that hands out these tokens.
func tokens(_ access: String, _ refresh: String? = nil, lifetime: Int = 3600) -> String {
    let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
    return #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":\#(lifetime)\#(rotated)}"#
}

/// A port on which no server listens.
enum Nobody {
    /// No system gives port 1 to a server that asks for any; the port of a server that has stopped soon has a new one.
    static var url: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:1/")) }
    }
}

/// What a call of callback code is told; written in an async function, the compiler would suggest the other call.
func told<Value: Sendable>(
    _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
) async -> Result<Value, any Error> {
    await withCheckedContinuation { continuation in
        call { continuation.resume(returning: $0) }
    }
}
