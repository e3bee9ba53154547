import Foundation

@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

extension SocketDescriptor {
    func send(_ text: String) { send(Array(text.utf8)) }

    /// Says that nothing more will come, and reads until the server has closed.
    func finish() -> String {
        endSending()
        return rest()
    }

    /// Reads until the server has closed.
    func rest() -> String {
        var bytes: [UInt8] = []
        while case let more = receive(upTo: 4096), !more.isEmpty { bytes += more }
        close()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Says that nothing more will come, and then breaks the connection: the server's next byte gets `EPIPE`.
    func reset() {
        endSending()
        setOption(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
        close()
    }
}

/// What the token endpoint says, good or bad, as it is on the wire.
struct WireReply: Decodable {
    let access_token: String?
    let token_type: String?
    let expires_in: Int?
    let refresh_token: String?
    let error: String?
}

extension RotatingAuthorizationServer {
    /// The whole answer, head and body.
    func answer(to text: String) throws -> String {
        let connection = try SocketDescriptor.connected(toPort: port)
        connection.send(text)
        return connection.finish()
    }

    /// The answer to a form, at the token endpoint unless `path` says otherwise.
    func answer(
        toForm body: String,
        at path: String = "/token",
        type: String = "application/x-www-form-urlencoded"
    ) throws -> String {
        try answer(
            to: "POST \(path) HTTP/1.1\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    /// Exchanges a refresh token, as a client would.
    func exchange(_ refreshToken: String) throws -> WireReply {
        let answer = try answer(toForm: Self.form(refreshToken))
        return try JSONDecoder().decode(WireReply.self, from: Data(answer.components(separatedBy: "\r\n\r\n")[1].utf8))
    }

    static func form(_ refreshToken: String) -> String {
        "client_id=\(clientID)&grant_type=refresh_token&refresh_token=\(encoded(refreshToken))"
    }

    static func encoded(_ token: String) -> String {
        token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Whether the resource serves this token.
    func serves(_ accessToken: String) throws -> Bool {
        try answer(to: "GET /resource HTTP/1.1\r\nAuthorization: Bearer \(accessToken)\r\n\r\n").hasPrefix(
            "HTTP/1.1 200 "
        )
    }
}

/// Runs a test against a server of its own, which is stopped in the end.
func withRotatingServer<Result>(
    grace: TimeInterval = 0,
    latency: TimeInterval = 0,
    onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void = { _ in },
    _ body: (RotatingAuthorizationServer) async throws -> Result
) async throws -> Result {
    let server = try RotatingAuthorizationServer(grace: grace, latency: latency, onEvent: onEvent)
    defer { server.stop() }
    return try await body(server)
}
