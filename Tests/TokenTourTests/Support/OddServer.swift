import AccessTokenCore
import Foundation
import Testing

@testable import LoopbackAuthorizationServer
@testable import token_tour

/// A server that answers as a test says: `/token` gets the number of the request, `/resource` the access token.
final class OddServer: Sendable {
    private let transport: LoopbackHTTPServer

    init(
        token: @escaping @Sendable (Int) -> HTTPResponse,
        resource: @escaping @Sendable (String) -> HTTPResponse = { _ in HTTPResponse(200, json: "{}") }
    ) throws {
        let count = Locked(0)
        transport = try LoopbackHTTPServer(
            port: 0,
            answer: { request in
                guard request.path == "/token" else { return resource(request[field: "authorization"] ?? "") }
                return token(
                    count.withLock { count in
                        count += 1
                        return count
                    }
                )
            },
            answerMalformed: { HTTPResponse(400, json: "{}") }
        )
    }

    func stop() { transport.stop() }

    /// The arguments of a tour of this server, short.
    func arguments(_ more: String...) -> [String] {
        [
            "--server", "http://127.0.0.1:\(transport.port)/token", "--resource",
            "http://127.0.0.1:\(transport.port)/resource", "--client-id", "app", "--rounds", "2", "--callers", "10",
        ] + more
    }

    /// A good answer with these tokens.
    static func tokens(_ access: String, _ refresh: String? = nil) -> HTTPResponse {
        let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
        return HTTPResponse(200, json: #"{"access_token":"\#(access)","token_type":"Bearer"\#(rotated)}"#)
    }
}

/// Runs a test against such a server, and stops the server after it.
func withOddServer<Value>(
    token: @escaping @Sendable (Int) -> HTTPResponse,
    resource: @escaping @Sendable (String) -> HTTPResponse = { _ in HTTPResponse(200, json: "{}") },
    _ body: (OddServer) async throws -> Value
) async throws -> Value {
    let server = try OddServer(token: token, resource: resource)
    defer { server.stop() }
    return try await body(server)
}
