import AccessTokenAdapters
import Foundation
import SampleShared

@testable import SampleStage2

/// Stage 2 on trial: the old session and the new service both decide.
enum TrialExample {
    static func tokens(
        authorization: AuthorizationServer,
        keychain: Keychain,
        log: @escaping @Sendable (String) -> Void
    ) -> ShadowService {
        let loader = TokenLoader(authorization: authorization, keychain: keychain)
        return ShadowService(serving: .old, loader: loader) { loader in
            let session = LegacySession { handler in
                loader.load(replacing: nil) { result in
                    handler(result.map { LegacyToken(value: $0.value, expiresAt: $0.expiration ?? .distantFuture) })
                }
            }
            return ShadowService.Candidate(LegacySessionProvider(of: session)) { token in
                session.signIn(LegacyToken(value: token.value, expiresAt: token.expiration ?? .distantFuture))
            }
        } new: { loader in
            let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: loader))
            return ShadowService.Candidate(CallbackServiceView(of: service)) { service.signIn($0) }
        } onDifference: { difference in
            log("\(difference)")
        }
    }
}
