import AccessTokenAdapters
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What the store has of a session", .takesTurns, .endsHangs)
struct StoredSessionTests {
    private let valid = AccessToken(value: "A", expiration: .distantFuture)
    private let expired = AccessToken(value: "A", expiration: .distantPast)

    private func stored(
        _ credential: Credential?,
        subject: String? = nil,
        grant: TokenGrant? = nil
    ) async throws -> StoredSession? {
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let store = MemoryCredentialStore(credential)
        return try await OAuthLoader(endpoint: endpoint, store: store, grant: grant, subject: subject).storedSession()
    }

    @Test func `is its token and its subject`() async throws {
        let credential = Credential(accessToken: valid, refreshToken: "RT", subject: "Ann")
        #expect(try await stored(credential) == StoredSession(token: valid, subject: "Ann"))
        #expect(try await stored(credential, subject: "Ann") == StoredSession(token: valid, subject: "Ann"))
        let old = Credential(accessToken: expired, refreshToken: "RT")
        #expect(try await stored(old) == StoredSession(token: expired))
    }

    @Test func `is none without a credential, of another subject, and of one that nothing can renew`() async throws {
        #expect(try await stored(nil) == nil)
        let credential = Credential(accessToken: valid, refreshToken: "RT", subject: "Ann")
        #expect(try await stored(credential, subject: "Bob") == nil)
        #expect(try await stored(Credential(accessToken: expired, refreshToken: nil)) == nil)
    }

    @Test func `is always there of a client that signs in by itself`() async throws {
        #expect(try await stored(nil, grant: .clientCredentials()) == StoredSession())
    }

    @Test func `is not the same as a store that cannot be read`() async throws {
        let store = TroubledStore(nil)
        store.goBlind(for: 1)
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        await #expect(throws: TroubledStore.Trouble()) { try await loader.storedSession() }
    }

    /// The reply, and what is known of the session after it, in the process that asked and in the next one.
    @Test(
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, SessionStatus.needsLogin, SessionStatus.signedOut),
            (400, #"{"error":"interaction_required"}"#, .needsLogin, .needsLogin),
            (200, #"{"status":"ok"}"#, .needsLogin, .needsLogin),
            (503, "", .expired, .expired),
        ],
        SessionKind.allCases
    )
    func `says what the server's reply means`(
        _ reply: (status: Int, body: String, here: SessionStatus, elsewhere: SessionStatus),
        kind: SessionKind
    ) async throws {
        try await withServer(replying: reply.status, reply.body) { server in
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            try await loader.signIn(Credential(accessToken: expired, refreshToken: "RT"))
            let status = try await statusAfterACall(of: loader, kind)
            #expect(status == reply.here)
            // A service that has not asked knows what is stored, as one in another process does.
            let other = AsyncAccessTokenService(loader: loader)
            try await other.look { try await loader.storedSession() }
            #expect(other.sessionStatus == reply.elsewhere)
        }
    }

    private func statusAfterACall(of loader: OAuthLoader, _ kind: SessionKind) async throws -> SessionStatus {
        switch kind {
        case .async:
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            try await service.look { try await loader.storedSession() }
            #expect(service.sessionStatus == .expired)
            await #expect(throws: OAuthError.self) { try await service.token() }
            try await service.look { try await loader.storedSession() }
            return service.sessionStatus
        case .callback:
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), policy: .withoutLoadDeadline)
            try await service.look { try await loader.storedSession() }
            #expect(service.sessionStatus == .expired)
            await #expect(throws: OAuthError.self) { try await service.token() }
            try await service.look { try await loader.storedSession() }
            return service.sessionStatus
        }
    }

    @Test func `is followed by a service: another process signs out, and another user signs in`() async throws {
        let store = MemoryCredentialStore(Credential(accessToken: valid, refreshToken: "RT", subject: "Ann"))
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let service = AsyncAccessTokenService(loader: loader)
        #expect(try await service.token() == valid)
        try await service.look { try await loader.storedSession() }
        let other = AccessToken(value: "B")
        _ = try await store.update { _ in
            .replace(Credential(accessToken: other, refreshToken: "RT-B", subject: "Bob"))
        }
        try await service.look { try await loader.storedSession() }
        #expect(service.sessionStatus == .signedIn)
        #expect(try await service.token() == other)
        _ = try await store.update { _ in .remove }
        try await service.look { try await loader.storedSession() }
        #expect(service.sessionStatus == .signedOut)
        await #expect(throws: AccessTokenError.signedOut) { try await service.token() }
    }
}
