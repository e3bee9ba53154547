import AccessTokenAsync
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A login whose tokens are bound to a key of the session, and the session that sends requests with them.
func boundSession(
    at issuer: URL,
    for notesURL: URL,
    store: any CredentialStore,
    keys: ProofKeys,
    show: (URL) async throws -> URL
) async throws -> AsyncBearerSession {
    let server = try await AuthorizationServer.discover(issuer)
    var endpoint = try server.tokenEndpoint(.none(clientID: "app"))
    endpoint.proofKeys = keys
    let loader = OAuthLoader(endpoint: endpoint, store: store)
    let tokens = AsyncAccessTokenService(loader: RetryingLoader(loader))
    let login = try await AuthorizationCodeLogin(
        at: server,
        with: endpoint,
        redirectURI: "com.example.app:/callback"
    )
    let grant = try login.grant(from: try await show(login.url))
    try await loader.signIn(Credential(try await endpoint.exchange(grant)), to: tokens)
    return AsyncBearerSession(tokens: tokens, origins: [notesURL], proofs: loader.proofs)
}

/// The same with an HTTP client of your own.
struct BoundClient: Sendable {
    let tokens: any AsyncAccessTokenProviding
    let proofs: TokenProofs
    let session: URLSession

    struct Reply {
        let data: Data
        let response: HTTPURLResponse
        /// The server has looked at the proof only.
        let wantsRepeat: Bool
    }

    func reply(to request: URLRequest) async throws -> Reply {
        try await tokens.withToken { (reply: Reply) in
            reply.response.statusCode == 401 && !reply.wantsRepeat
        } send: { token in
            let reply = try await send(request, with: token)
            return reply.wantsRepeat ? try await send(request, with: token) : reply
        }
    }

    private func send(_ request: URLRequest, with token: AccessToken) async throws -> Reply {
        guard let url = request.url else { throw URLError(.badURL) }
        var request = request
        for (name, value) in try await proofs.fields(request.httpMethod ?? "GET", url, with: token) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let wantsRepeat = proofs.wantsRepeat(status: response.statusCode, from: url, body: data) { name in
            response.value(forHTTPHeaderField: name)
        }
        return Reply(data: data, response: response, wantsRepeat: wantsRepeat)
    }
}

#if canImport(CryptoKit)
import CryptoKit

/// Keys of your own: what `cryptoKit` does.
let ownKeys = ProofKeys {
    try proofKey(P256.Signing.PrivateKey())
} read: { stored in
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: stored) else { return nil }
    return try proofKey(key)
}

func proofKey(_ key: P256.Signing.PrivateKey) throws -> ProofKey {
    try ProofKey(stored: key.rawRepresentation, publicKey: key.publicKey.x963Representation) { message in
        try key.signature(for: message).rawRepresentation
    }
}
#endif
