import AccessTokenAdapters
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
final class AppSession {
    nonisolated static let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appendingPathComponent("com.example.app/session")

    let store: FileCredentialStore
    let loader: OAuthLoader
    let tokens: AsyncAccessTokenService

    init(tokenURL: URL, folder: URL = AppSession.folder) {
        store = FileCredentialStore(folder: folder)
        loader = OAuthLoader(
            endpoint: TokenEndpoint(tokenURL, authentication: .none(clientID: "app")),
            store: store
        )
        tokens = AsyncAccessTokenService(loader: ThrottlingLoader(RetryingLoader(loader)))
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

    /// Takes over the tokens that an earlier version of the app has kept, where the store has nothing yet.
    func takeOver(_ old: Credential, thenRemove removeOldTokens: () throws -> Void) async throws {
        try await store.update { $0 == nil ? .replace(old) : .keep }
        try removeOldTokens()
    }

    /// Says at launch, and when the app becomes active, whether there is a session; asks no server.
    func isSignedIn() async throws -> Bool {
        let loader = loader
        try await tokens.look { try await loader.storedSession() }
        return [.signedIn, .expired].contains(tokens.sessionStatus)
    }
}

@MainActor
final class CallbackAppSession {
    let store: FileCredentialStore
    let loader: OAuthLoader
    let tokens: AccessTokenService

    init(tokenURL: URL, folder: URL = AppSession.folder) {
        store = FileCredentialStore(folder: folder)
        loader = OAuthLoader(
            endpoint: TokenEndpoint(tokenURL, authentication: .none(clientID: "app")),
            store: store
        )
        let retrying = ThrottlingLoader(RetryingLoader(loader))
        tokens = AccessTokenService(loader: CallbackLoaderAdapter(of: retrying), handlerQueue: .main)
    }

    func signIn(
        _ credential: Credential,
        then handler: @escaping @MainActor @Sendable (Result<Void, any Error>) -> Void
    ) {
        // Not in a task: the caller's next line may sign out, and that counts.
        loader.signIn(credential, to: tokens) { result in
            Task { await handler(self.resettingUnreadableStore(result, credential)) }
        }
    }

    private func resettingUnreadableStore(
        _ result: Result<Void, any Error>,
        _ credential: Credential
    ) async -> Result<Void, any Error> {
        guard case .failure(let error as CredentialStoreError) = result, error.isUnreadable else { return result }
        do {
            try await store.reset()
            return .success(try await loader.signIn(credential, to: tokens))
        } catch {
            return .failure(error)
        }
    }

    func isSignedIn(then handler: @escaping (Result<Bool, any Error>) -> Void) {
        let loader = loader
        Task {
            do {
                try await tokens.look { try await loader.storedSession() }
                handler(.success([.signedIn, .expired].contains(tokens.sessionStatus)))
            } catch {
                handler(.failure(error))
            }
        }
    }
}

nonisolated struct FriendsAPI: Sendable {
    let url: URL
    let session: AsyncBearerSession

    init(url: URL, tokens: any AsyncAccessTokenProviding) {
        self.url = url
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.timeoutIntervalForRequest = 10
        session = AsyncBearerSession(tokens: tokens, origins: [url], configuration: configuration)
    }

    func friends() async throws -> Data {
        let (data, response) = try await session.data(for: URLRequest(url: url.appendingPathComponent("friends")))
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return data
    }
}
