import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth
import Dispatch

/// The callback service of many code bases, and its bug.
///
/// The queue protects the memory and nothing else: the load goes on after the block has ended. Until the load is done,
/// every other caller finds no valid token and starts a load too.
final class NaiveCallbackService: AccessTokenProviding {
    private let loader: any AccessTokenLoader
    private let queue = DispatchQueue(label: "naive")
    private nonisolated(unsafe) var token: AccessToken?  // Safe: touched on `queue` only.

    init(loader: any AccessTokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        queue.async { [self] in
            if let token = unsafe token {
                return handler(.success(token))
            }
            loader.load(replacing: nil) { [self] result in
                queue.async { [self] in
                    unsafe token = try? result.get()
                    handler(result)
                }
            }
        }
        return .answered
    }

    func invalidate(_ rejected: AccessToken) {
        queue.async { [self] in
            if unsafe token == rejected {
                unsafe token = nil
            }
        }
    }

    func signIn(_ token: AccessToken) {
        queue.async { [self] in unsafe self.token = token }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            unsafe token = nil
            loader.signOut(then: done)
        }
    }
}

/// The actor of many code bases, and its bug.
///
/// The actor protects the memory and nothing else: it takes other calls while it awaits the load. Until the load is
/// done, each of them finds no valid token and starts a load too.
actor NaiveActorService: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var token: AccessToken?

    init(loader: any AsyncAccessTokenLoader) {
        self.loader = loader
    }

    func token() async throws -> AccessToken {
        if let token {
            return token
        }
        let token = try await loader.load(replacing: nil)
        self.token = token
        return token
    }

    func invalidate(_ rejected: AccessToken) {
        if token == rejected {
            token = nil
        }
    }

    func signIn(_ token: AccessToken) {
        self.token = token
    }

    func signOut() async {
        token = nil
        await loader.signOut()
    }
}

/// The loader of the naive services: reads the refresh token, exchanges it, stores what came.
///
/// Nothing keeps two loads from doing these three steps at the same time. A load that is refused signs the user out
/// without a look at what is stored by then.
struct NaiveTokenLoader: AsyncAccessTokenLoader {
    let endpoint: TokenEndpoint
    let store: any CredentialStore

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let credential = try await store.load()?.credential, let refreshToken = credential.refreshToken else {
            throw AccessTokenError.signedOut
        }
        do {
            let response = try await endpoint.exchange(.refreshToken(refreshToken))
            try await store.update { _ in .replace(Credential(response, renewing: credential)) }
            return response.accessToken
        } catch let error as OAuthError where error.requiresSignIn {
            try await store.update { _ in .remove }
            throw error
        }
    }
}
