import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import OAuthFoundation

/// Gives a reply to a real loader, by a server on this machine, and watches what the loader does.
struct ReplyTrial {
    private static let refreshToken = "the-refresh-token"

    let reply: RawReply
    var server: KnownServer?

    /// Lines of a table: what the reply is, and what it leads to.
    func report() async throws -> [String] {
        let requests = Locked(0)
        let response = response
        let host = try LoopbackHTTPServer(
            port: 0,
            answer: { _, _ in
                requests.withLock { $0 += 1 }
                return response
            }
        )
        defer { host.stop() }
        guard let url = URL(string: "http://127.0.0.1:\(host.port)/token") else { return [] }
        var endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"))
        endpoint.server = server
        let store = MemoryCredentialStore(Credential(refreshToken: Self.refreshToken))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let first = await Self.result { try await loader.load(replacing: nil) }
        let credential = try await store.load()?.credential
        // Another load shows whether the refresh token would be sent again.
        let sent = requests.withLock { $0 }
        if case .failure = first { _ = try? await loader.load(replacing: nil) }
        let isSentAgain = requests.withLock { $0 } > sent
        return lines(first, credential, isSentAgain: isSentAgain)
    }

    /// What the reply means to a device that polls.
    func reportForDevice() throws -> [String] {
        guard let url = URL(string: "https://127.0.0.1/token") else { return [] }
        var endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"))
        endpoint.server = server
        let grant = TokenGrant.extensionGrant(
            "urn:ietf:params:oauth:grant-type:device_code",
            parameters: ["device_code": "the-device-code"]
        )
        let head = Dictionary(reply.fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        let given = TokenEndpointReply(status: reply.status, headers: head, body: Data(reply.body.utf8))
        do {
            return ["token       \(try endpoint.response(from: given, to: grant).accessToken)"]
        } catch {
            return ["token       none", "error       \(error)"]
        }
    }

    private var response: HTTPResponse {
        var response = HTTPResponse(status: reply.status, json: reply.body)
        // Those of the connection are the server's own.
        let own = ["content-type", "content-length", "content-encoding", "transfer-encoding", "connection"]
        response.fields = reply.fields.filter { !own.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
        return response
    }

    private static func result(_ load: () async throws -> AccessToken) async -> Result<AccessToken, any Error> {
        do { return .success(try await load()) } catch { return .failure(error) }
    }

    private func lines(
        _ result: Result<AccessToken, any Error>,
        _ credential: Credential?,
        isSentAgain: Bool
    ) -> [String] {
        let kept =
            switch credential?.refreshToken {
            case nil: "is removed"
            case Self.refreshToken: "stays"
            default: "stays, with the next refresh token"
            }
        var lines = ["reply       \(reply.status), \(reply.body.utf8.count) bytes"]
        if let server { lines.append("server      \(server.name)") }
        switch result {
        case .success(let token):
            let life = token.expiration.map { "expires in \(Int($0.timeIntervalSinceNow.rounded())) s" }
            return lines + [
                "token       is handed out, and \(life ?? "is good until it is rejected")", "credential  \(kept)",
            ]
        case .failure(let error as OAuthError):
            let asks = error.requiresSignIn || error.sessionMayBeSpent
            return lines + [
                "token       none", "user        \(asks ? "is asked to sign in" : "is not asked")",
                "credential  \(kept)", "sent again  \(Self.again(error, credential, isSentAgain: isSentAgain))",
                "error       \(error)",
            ]
        case .failure(let error): return lines + ["error       \(error)"]
        }
    }

    /// Seconds that a RetryingLoader waits by default, where a server asks for time.
    private static let longestDelay: TimeInterval = 20

    private static func again(_ error: OAuthError, _ credential: Credential?, isSentAgain: Bool) -> String {
        if credential == nil { return "never: the server has ended the session" }
        if error.sessionMayBeSpent { return "not until the app decides: it may be spent" }
        if error.requiresSignIn { return "not for two minutes" }
        guard isSentAgain else { return "not for five minutes" }
        if let seconds = error.retryAfter {
            guard seconds <= longestDelay else {
                return "at the next call; a RetryingLoader waits for \(Int(longestDelay)) s at most"
            }
            return "by a RetryingLoader after \(Int(seconds.rounded(.up))) s, else at the next call"
        }
        return error.isTransient ? "by a RetryingLoader after a moment, else at the next call" : "at the next call"
    }
}
