import AccessTokenContract
import Dispatch
import TestSupport
import Testing

/// Both services, as async code sees them.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case queue, actor

    var testDescription: String { "the \(rawValue) service" }

    func make(
        _ loader: any AccessTokenLoader & AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = ManualClock(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> any AsyncAccessTokenProviding {
        let stack = self == .queue ? Stack.queueAsyncLoader : .actor
        return stack.make(loader, clock, onEvent, executor: nil, policy: policy).async
    }
}

extension AsyncAccessTokenProviding {
    /// Signs in at a service that ``Engine/make(_:policy:clock:onEvent:)`` has made.
    func beginSession(with token: AccessToken? = nil, sourceLocation: SourceLocation = #_sourceLocation) async {
        switch (self, token) {
        case (let queue as AccessTokenService, let token?): queue.signIn(token)
        case (let queue as AccessTokenService, nil): queue.signIn()
        case (let actor as AsyncAccessTokenService, let token?): await actor.signIn(token)
        case (let actor as AsyncAccessTokenService, nil): await actor.signIn()
        default: Issue.record("there is no sign-in at \(type(of: self))", sourceLocation: sourceLocation)
        }
    }
}

/// A loader in a few words, in both worlds.
struct Loader: AsyncAccessTokenLoader, AccessTokenLoader {
    var load: @Sendable () async throws -> AccessToken
    var forget: @Sendable () async -> Void = {}

    func load(replacing old: AccessToken?) async throws -> AccessToken { try await load() }
    func signOut() async { await forget() }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        CallbackLoaderAdapter(of: self).load(replacing: old, then: handler)
    }
    func signOut(then done: @escaping @Sendable () -> Void) { CallbackLoaderAdapter(of: self).signOut(then: done) }
}
