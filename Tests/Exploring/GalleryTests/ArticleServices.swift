import AccessTokenContract
import Synchronization

@testable import race_gallery

/// The final services of the articles as subjects of the contract.
///
/// None of them has a sign-in, a sign-out or a way to reject a token: only the clauses are judged that need none.
enum ArticleServices {
    static let subjects = [
        ContractSubject("`access-token-service version-3`", features: [.callbackLoader]) { fixture in
            let tokens = NumberedTokens(of: fixture.loader)
            let service = AccessTokenServiceVersion3(loader: tokens)
            return .retrieving { handler in
                service.retrieveToken { handler($0.map { tokens.token($0.value) }) }
            }
        },
        ContractSubject("`authentication-service version-2`", features: [.asyncCallers]) { fixture in
            let tokens = NumberedTokens(of: fixture.loader)
            let service = AuthServiceVersion2(fetchValidToken: tokens.load)
            return .awaiting { tokens.token(try await service.bearerToken()) }
        },
        ContractSubject("`oauth-processor final`", features: [.asyncCallers]) { fixture in
            let tokens = NumberedTokens(of: fixture.loader)
            let service = OAuthProcessorFinal { OAuthToken(accessToken: try await tokens.load(), isValid: true) }
            return .awaiting { tokens.token(try await service.token().accessToken) }
        },
    ]
}

/// Brings the tokens of the suite by numbers, as the services of the gallery know them.
private final class NumberedTokens: TokenLoader {
    private let loader: ControlledLoader
    private let tokens = Mutex<[AccessToken]>([])

    init(of loader: ControlledLoader) {
        self.loader = loader
    }

    /// Not inlined, for the same reason as ``number(of:)``.
    @inline(never)
    func token(_ number: Int) -> AccessToken { tokens.withLock { $0[number] } }

    func load() async throws -> Int {
        number(of: try await loader.load(replacing: nil))
    }

    func load(then handler: @escaping TokenHandler) {
        loader.load(replacing: nil) { result in
            handler(result.map { CachedToken(value: self.number(of: $0), isValid: true) })
        }
    }

    /// Not inlined: on Linux, a lock in an async function may look at another thread's identity after an `await`.
    @inline(never)
    private func number(of token: AccessToken) -> Int {
        tokens.withLock { tokens in
            tokens.append(token)
            return tokens.count - 1
        }
    }
}
