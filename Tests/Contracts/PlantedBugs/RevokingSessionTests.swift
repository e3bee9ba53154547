import AccessTokenContract
import AccessTokenSynchronization
import TestSupport
import Testing

/// Tells the server of the sign-out, and only then forgets the session; repaired, it forgets the session first.
struct RevokingSession {
    /// Gives no reply to a revocation that comes while it loads a token.
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

        func revoke() async {
            guard openLoads.withLock({ $0 > 0 }) else { return }
            await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
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

@Suite("A sign-out that first tells the server", .takesTurnsToWait, .endsHangs)
struct RevokingSessionTests {
    @Test func `breaks what is about running loads, and nothing else`() async {
        for _ in 1...runs {
            let report = await RevokingSession.subject(isRepaired: false).report(timeLimit: 0.2)
            #expect(report.brokenIDs == ["O1", "O4"], "\(report)")
            #expect(report.notJudged.map(\.id) == ["O5"], "\(report)")
            for violation in report.violations {
                #expect(violation.trace.contains("sign-out has not returned yet"), "\(violation)")
            }
            let repaired = await RevokingSession.subject(isRepaired: true).report()
            #expect(repaired.isKept, "\(repaired)")
        }
    }
}
