import AccessTokenContract

/// Tells the server of the sign-out, and only then forgets the session; repaired, it forgets the session first.
struct RevokingSession {
    /// Leaves a request for a revocation unanswered as long as it leaves a load unanswered.
    private final class Server: AccessTokenLoader {
        private let loader: ControlledLoader
        private let openLoads = Locked(0)

        init(_ loader: ControlledLoader) {
            self.loader = loader
        }

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            openLoads.withLock { $0 += 1 }
            loader.load(replacing: old) { [self] result in
                openLoads.withLock { $0 -= 1 }
                handler(result)
            }
        }

        func signOut(then done: @escaping @Sendable () -> Void) {
            loader.signOut(then: done)
        }

        /// Takes 50 ms, or the minute after which a client gives up: no step of the suite lasts so long.
        func revoke() async {
            let isSilent = openLoads.withLock { $0 > 0 }
            try? await Task.sleep(for: isSilent ? .seconds(60) : .milliseconds(50))
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
