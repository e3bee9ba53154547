import AccessTokenOAuth
import Foundation
import Testing

/// A reply of a service to a refresh token, and what it means there.
struct ReplyFixture: Sendable, CustomTestStringConvertible {
    /// What a caller, the user and the store see of a reply.
    enum Outcome: String, Sendable {
        /// The token is handed out, and the right refresh token kept.
        case token
        /// A login is asked for, and the credential is removed.
        case ended
        /// A login is asked for, and the credential stays.
        case user
        /// The request may succeed later; the credential stays, and its refresh token is sent again.
        case later
        /// The app or the server has to be changed; the credential stays, and its refresh token is sent again.
        case mistake
        /// The session may be spent: the credential stays, and its refresh token is not sent again.
        case held
    }

    let service: String
    let status: Int
    let body: String
    let fields: [String: String]
    /// What the store has after the reply, if there is a token.
    let refreshToken: String
    let server: KnownServer?

    var testDescription: String { "\(service), \(status) \(body.prefix(80))" }

    init(
        _ service: String,
        _ status: Int,
        _ body: String,
        _ fields: [String: String] = [:],
        refreshToken: String = "RT1",
        server: KnownServer? = nil
    ) {
        self.service = service
        self.status = status
        self.body = body
        self.fields = fields
        self.refreshToken = refreshToken
        self.server = server
    }

    /// What the client makes of it, with a store and a real connection; `nil` for anything else than these outcomes.
    func outcome() async throws -> Outcome? {
        let fields = fields.merging(["Content-Type": "application/json"]) { own, _ in own }
        return try await withServer { connection, _ in
            connection.reply(status, body, fields: fields)
        } _: { server in
            var endpoint = try server.endpoint()
            endpoint.server = self.server
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            do {
                let token = try await loader.load(replacing: nil)
                let isRight = try await store.refreshToken == refreshToken
                return token.value == "A1" && isRight && server.requests.count == 1 ? .token : nil
            } catch let error as OAuthError {
                let kept = try await store.refreshToken
                if error.requiresSignIn { return kept == nil ? .ended : kept == "RT0" ? .user : nil }
                _ = try? await loader.load(replacing: nil)
                let isSentAgain = server.requests.count == 2
                guard kept == "RT0" else { return nil }
                if error.sessionMayBeSpent { return isSentAgain ? nil : .held }
                guard isSentAgain else { return nil }
                return error.isTransient ? .later : error.isConfigurationMistake ? .mistake : nil
            }
        }
    }
}
