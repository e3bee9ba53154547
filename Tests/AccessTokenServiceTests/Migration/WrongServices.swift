import AccessTokenContract
import PublishedBugs

/// Passes everything on to a right service, save for what a test makes it do wrong.
final class WrongService: AccessTokenProviding {
    private let base: any AccessTokenProviding
    private let change: @Sendable (Int, Result<AccessToken, any Error>) -> Result<AccessToken, any Error>?
    private let calls = Locked(0)

    /// - Parameter change: what the call with this number, from 1, is answered with; `nil` for nothing.
    init(
        _ base: any AccessTokenProviding,
        change: @escaping @Sendable (Int, Result<AccessToken, any Error>) -> Result<AccessToken, any Error>?
    ) {
        self.base = base
        self.change = change
    }

    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        return base.retrieveToken { [change] result in
            if let changed = change(number, result) { handler(changed) }
        }
    }

    func invalidate(_ rejected: AccessToken) { base.invalidate(rejected) }
    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }
}

/// What the old services of the tests do wrong, each in one way.
enum WrongServices {
    struct OwnError: Error {}

    /// The article's last version, which keeps no token.
    static let loadsEachTime: ShadowFixture.Make = { ShadowService.Candidate(WeakSelfService(loader: $0)) }

    static let keepsItsFirstError: ShadowFixture.Make = { loader in
        ShadowService.Candidate(CallbackServiceView(of: NeverClearingActor(loader: AsyncLoaderView(of: loader))))
    }

    static let undoesSignOut: ShadowFixture.Make = { loader in
        ShadowService.Candidate(CallbackServiceView(of: LateAnswerActor(loader: AsyncLoaderView(of: loader))))
    }

    static let losesEverySecondHandler: ShadowFixture.Make = { loader in
        ShadowService.Candidate(
            WrongService(AccessTokenService(loader: loader)) { $0.isMultiple(of: 2) ? nil : $1 }
        )
    }

    static let translatesErrors: ShadowFixture.Make = { loader in
        ShadowService.Candidate(
            WrongService(AccessTokenService(loader: loader)) { _, result in result.mapError { _ in OwnError() } }
        )
    }

    static let givesAnotherToken: ShadowFixture.Make = { loader in
        ShadowService.Candidate(
            WrongService(AccessTokenService(loader: loader)) { _, result in
                result.map { _ in AccessToken(value: "another") }
            }
        )
    }
}
