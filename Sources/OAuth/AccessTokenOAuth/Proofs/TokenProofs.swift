public import AccessTokenCore
import AccessTokenSynchronization
public import Foundation

/// The proofs for requests with the access tokens of one loader: for sessions, and for any other HTTP client.
///
/// ```swift
/// let fields = try await loader.proofs.fields("GET", url, with: token)
/// for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
/// ```
///
/// An ``OAuthLoader`` has one (``OAuthLoader/proofs``), which knows the key of each token that the loader hands out. It
/// keeps the nonces of resource servers, by their origins.
///
/// **Concurrency** Can be used from any thread.
public final class TokenProofs: Sendable {
    /// A token, and what is stored of its key; `nil` for a token that is bound to none.
    private struct Known: Equatable {
        let token: ExactString
        let stored: Data?
        /// Nothing is stored then, and the key of the next session is another one.
        var hasEnded = false
    }

    /// The tokens of which a request may still be on its way.
    private static let most = 8

    let memory = ProofMemory()
    private let store: any CredentialStore
    private let keys: ProofKeys?
    let clock: any AccessTokenClock
    private let known = Locked<[Known]>([])

    init(of store: any CredentialStore, _ keys: ProofKeys?, clock: any AccessTokenClock) {
        self.store = store
        self.keys = keys
        self.clock = clock
    }

    /// The header fields with which to send an access token: `Authorization`, and `DPoP` if the token is bound to a
    /// key.
    ///
    /// Ask for each request, and for each hop of a redirect: a proof is good for one method, one URL and one use (RFC
    /// 9449, sections 4.2 and 7.1). The fields of a token that is bound to no key are those of a Bearer token.
    ///
    /// **Failure** ``OAuthError/proofKeyLost``; `AccessTokenError.signedOut` if the session has ended meanwhile; what
    /// reading the key, signing, or the loader's store throws.
    ///
    /// - Parameters:
    ///   - method: as it is sent, such as `GET`.
    ///   - url: where the request is sent; its query and fragment do not count.
    ///   - token: what the loader's service has given out.
    public func fields(
        _ method: String,
        _ url: URL,
        with token: AccessToken
    ) async throws -> [String: String] {
        guard let prover = try await prover(for: token) else { return ["Authorization": "Bearer \(token.value)"] }
        let attempt = try prover.attempt(for: method, url, token: token.value, at: clock.now)
        memory[url].keep { $0.unanswered += 1 }
        return ["Authorization": "\(Proof.field) \(token.value)", Proof.field: attempt.proof]
    }

    /// Learns of a reply to such a request, and says whether to send the request once more, with new fields.
    ///
    /// Call this for each reply, whatever its status: a nonce may come with any of them (RFC 9449, section 8.2). After
    /// `true` the server has refused the proof, and has looked neither at the token nor at the request: that is no
    /// rejection of the token. Send it again once, and hand a second refusal on.
    ///
    /// - Parameters:
    ///   - status: of the reply.
    ///   - url: where the request was sent.
    ///   - body: of the reply, for servers that say there what others say in the header field `WWW-Authenticate`.
    ///   - field: the value of a header field, by its name.
    public func wantsRepeat(
        status: Int,
        from url: URL,
        body: Data? = nil,
        _ field: (_ name: String) -> String?
    ) -> Bool {
        let reply = ProofReply(status: status, body: body, at: clock.now, field)
        return memory[url].keep { $0.learn(fromReplyToSomeProof: reply) }
    }

    // MARK: For sessions

    /// What makes the proofs for a token; `nil` if the token is bound to no key.
    func prover(for token: AccessToken) async throws -> Prover? {
        let known = known(token)
        if let known, !known.hasEnded { return try prover(known.stored) }
        // The app may have given the service a token that the loader has not seen. One that is in the store no more is
        // of the same session, if another process has renewed it, or is rejected.
        let credential = try await store.load()?.credential
        if let credential, credential.accessTokens.contains(token.value) {
            learn(token, credential)
        } else if known != nil || (credential == nil && keys != nil) {
            // The session has ended, and nobody knows to which key the token is bound.
            throw AccessTokenError.signedOut
        }
        return try prover(credential?.proofKey)
    }

    /// The same for callback code; the handler is called at once if the loader has handed out the token.
    func prover(for token: AccessToken, then handler: @escaping @Sendable (Result<Prover?, any Error>) -> Void) {
        if let known = known(token), !known.hasEnded { return handler(Result { try prover(known.stored) }) }
        Task {
            do { handler(.success(try await prover(for: token))) } catch { handler(.failure(error)) }
        }
    }

    private func prover(_ stored: Data?) throws -> Prover? {
        guard let stored else { return nil }
        guard let keys else { throw OAuthError.noProofKeys }
        return Prover(key: try keys.key(from: stored), memory: memory)
    }

    private func known(_ token: AccessToken) -> Known? {
        known.withLock { $0.last { $0.token == token.secret } }
    }

    // MARK: For the loader

    /// The loader has seen this credential, whose token it may hand out.
    func learn(_ token: AccessToken, _ credential: Credential) {
        let new = Known(token: token.secret, stored: credential.proofKey)
        known.withLock { known in
            guard known.last != new else { return }
            known.removeAll { $0.token == new.token }
            known = known.suffix(Self.most - 1) + [new]
        }
    }

    /// The session has ended: a request that has its token already must not be sent with the key of the next one.
    func forget() {
        known.withLock { $0 = $0.map { Known(token: $0.token, stored: nil, hasEnded: true) } }
    }
}

extension TokenProofs: CustomStringConvertible, CustomReflectable {
    /// No token and no key.
    public var description: String { "TokenProofs" }

    /// A mirror without tokens, keys and nonces: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}
