import AccessTokenContract

/// Tells the server of the sign-out, and only then forgets the session; repaired, it forgets the session first.
struct RevokingSession {
    /// Answers a request for a revocation when it has answered the loads that came before.
    private final class Server: AccessTokenLoader {
        private struct State {
            var openLoads = 0
            var revocations: [CheckedContinuation<Void, Never>] = []
        }

        private let loader: ControlledLoader
        private let state = Locked(State())

        init(_ loader: ControlledLoader) {
            self.loader = loader
        }

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            state.withLock { $0.openLoads += 1 }
            loader.load(replacing: old) { [self] result in
                handler(result)
                let answered = state.withLock { state in
                    state.openLoads -= 1
                    guard state.openLoads == 0 else { return [CheckedContinuation<Void, Never>]() }
                    defer { state.revocations = [] }
                    return state.revocations
                }
                for revocation in answered { revocation.resume() }
            }
        }

        func signOut(then done: @escaping @Sendable () -> Void) {
            loader.signOut(then: done)
        }

        func revoke() async {
            await withCheckedContinuation { continuation in
                let isAnswered = state.withLock { state in
                    if state.openLoads > 0 { state.revocations.append(continuation) }
                    return state.openLoads == 0
                }
                if isAnswered { continuation.resume() }
            }
            // The way to the server and back takes longer than the suite lets others settle.
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    static func subject(isRepaired: Bool) -> ContractSubject {
        ContractSubject("revokes a session", features: [.signIn, .signOut], promises: ["O5", "O7"]) { fixture in
            let server = Server(fixture.loader)
            let service = AccessTokenService(loader: server)
            return .retrieving { handler in
                service.retrieveToken(then: handler)
            } signIn: { token in
                service.signIn(token)
            } signOut: {
                if isRepaired { await service.signOut() }
                await server.revoke()
                if !isRepaired { await service.signOut() }
            }
        }
    }
}
