import AccessTokenOAuth
import Foundation

@MainActor
final class AppSession {
    nonisolated static let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appending(path: "com.example.app/session")

    let store: FileCredentialStore
    let loader: OAuthLoader
    let tokens: AsyncAccessTokenService

    init(tokenURL: URL, folder: URL = AppSession.folder) {
        store = FileCredentialStore(folder: folder)
        loader = OAuthLoader(
            endpoint: TokenEndpoint(tokenURL, authentication: .none(clientID: "app")),
            store: store
        )
        tokens = AsyncAccessTokenService(loader: RetryingLoader(loader))
    }

    /// Says at launch, and whenever the app becomes active, whether there is a session; asks no server.
    func isSignedIn() async throws -> Bool {
        let token = tokens.currentToken
        if try await store.load() != nil { return true }
        // Another process may have ended the session. A sign-out could end one that begins at this moment.
        if let token { await tokens.invalidate(token) }
        return false
    }

    /// At the end of a login.
    func signIn(_ credential: Credential) async throws {
        do {
            try await loader.signIn(credential, to: tokens)
        } catch let error as CredentialStoreError where error.isUnreadable {
            try await store.reset()  // What was there is lost, and the user has just signed in again.
            try await loader.signIn(credential, to: tokens)
        }
    }
}

nonisolated enum Distribution {
    static func shared(inAppGroup group: URL) -> FileCredentialStore {
        FileCredentialStore(folder: group.appending(path: "session"))
    }
}
