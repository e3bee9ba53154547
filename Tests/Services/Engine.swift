import AccessTokenContract
import Dispatch
import TestSupport
import Testing

/// Both services, as async code sees them.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case queue, actor

    var testDescription: String { "the \(rawValue) service" }

    func make(
        _ loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = ManualClock(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> any AsyncAccessTokenProviding {
        switch self {
        case .queue:
            AccessTokenService(
                loader: CallbackLoaderAdapter(of: loader),
                policy: policy,
                clock: clock,
                onEvent: onEvent
            )
        case .actor: AsyncAccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: onEvent)
        }
    }
}

/// A loader in a few words.
struct Loader: AsyncAccessTokenLoader {
    var load: @Sendable () async throws -> AccessToken
    var forget: @Sendable () async -> Void = {}

    func load(replacing old: AccessToken?) async throws -> AccessToken { try await load() }
    func signOut() async { await forget() }
}
