import AccessTokenAdapters
import AccessTokenOAuth

/// A service of each world, on one credential.
struct Services: Sendable {
    let all: [any AsyncAccessTokenProviding]

    init(
        _ endpoint: TokenEndpoint,
        _ store: any CredentialStore,
        clock: any AccessTokenClock = SystemClock(),
        around wrap: (OAuthLoader) -> any AsyncAccessTokenLoader = { $0 }
    ) {
        func loader() -> any AsyncAccessTokenLoader { wrap(OAuthLoader(endpoint: endpoint, store: store)) }
        self.init(loader(), loader(), clock: clock)
    }

    init(
        _ first: any AsyncAccessTokenLoader,
        _ second: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = .init(),
        clock: any AccessTokenClock = SystemClock()
    ) {
        all = [
            AsyncAccessTokenService(loader: first, policy: policy, clock: clock),
            AccessTokenService(loader: CallbackLoaderAdapter(of: second), policy: policy, clock: clock),
        ]
    }

    /// So many callers at once, half of them in each world; each does this.
    func callers<Value: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (any AsyncAccessTokenProviding) async throws -> Value
    ) async -> [Result<Value, any Error>] {
        await withTaskGroup(of: Result<Value, any Error>.self) { group in
            for number in 0..<count {
                let service = all[number % all.count]
                group.addTask {
                    do { return .success(try await body(service)) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension Result<AccessToken, any Error> {
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// Whether the caller was told so: by what the server said, or, for later callers, by the empty store.
    var hasToSignIn: Bool {
        error as? AccessTokenError == .signedOut || (error as? OAuthError)?.requiresSignIn == true
    }
}
