import AccessTokenOAuth
import Foundation
import Testing

/// What a server can be like that is none of those that are installed.
///
/// Every refusal is a 400 with nothing in it, the resource's 401 has no challenge, HTTP Basic is not decoded, and a wrong
/// secret costs the refresh token its life.
final class TerseServer: Sendable {
    struct State {
        var generation = 0
        /// The refresh token that is good; `nil` if none is.
        var current: String? = "RT0"
        var isAccessRejected = false
    }

    static let clientID = "app"
    static let secret = "s3cr:t %+/&"

    let state = Locked(State())

    /// What a user has who has signed in there.
    static let credential = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")

    func answer(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
        if request.line.hasPrefix("GET ") { return answerResource(connection, request) }
        let proof = Data("\(Self.clientID):\(Self.secret)".utf8).base64EncodedString()
        let rotated = state.withLock { state -> Int? in
            guard request.fields["authorization"] == "Basic \(proof)" else {
                state.current = nil
                return nil
            }
            guard let current = state.current, request.body.contains("refresh_token=\(current)") else { return nil }
            state.generation += 1
            state.current = "RT\(state.generation)"
            state.isAccessRejected = false
            return state.generation
        }
        guard let rotated else { return connection.reply(400, "", fields: [:]) }
        connection.reply(200, tokens("A\(rotated)", "RT\(rotated)"))
    }

    private func answerResource(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
        let isGood = state.withLock { state in
            !state.isAccessRejected && request.fields["authorization"] == "Bearer A\(state.generation)"
        }
        connection.reply(isGood ? 200 : 401, "", fields: [:])
    }
}

/// Runs a test against such a server.
func withTerseServer(
    as authentication: ClientAuthentication = .basicRaw(clientID: TerseServer.clientID, secret: TerseServer.secret),
    _ body: (ScriptedServer, TerseServer, TokenEndpoint) async throws -> Void
) async throws {
    let terse = TerseServer()
    try await withServer { connection, request in
        terse.answer(connection, request)
    } _: { server in
        try await body(server, terse, try server.endpoint(authentication: authentication))
    }
}
