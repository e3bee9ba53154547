import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import BuggyServices
import Dispatch
import Foundation
import TestSupport
import Testing

/// What right services do, and scripts once accused them for.
@Suite("No script accuses a service", .takesTurnsToWait, .endsHangs)
struct FairnessTests {
    private func expectKept(_ script: Script, on subject: ContractSubject) async {
        for _ in 1...5 {
            let accusation = await script.play(on: subject)
            #expect(accusation == nil, "\(accusation.map { "\($0)" } ?? "")")
        }
    }

    @Test func `that loads at once when its token is rejected, also inside a handler`() async {
        let features: ContractFeatures = [.invalidation, .callbackLoader, .currentToken, .deliveryQueue]
        let subject = ContractSubject("loads when rejected", features: features) { fixture in
            let service = BuggyService(for: fixture, bug: nil)
            return .retrieving { handler in
                service.retrieveToken(then: handler)
            } invalidate: { token in
                let isCurrent = service.currentToken == token
                service.invalidate(token)
                if isCurrent { service.retrieveToken { _ in } }
            } currentToken: {
                service.currentToken
            }
        }
        await expectKept([.call, .answer(.token), .call(then: .reject)], on: subject)
    }

    @Test func `that compares rejected tokens, and tells its loader of none`() async {
        let features: ContractFeatures = [.expiry, .refreshAhead, .invalidation, .callbackLoader, .deliveryQueue]
        let subject = ContractSubject("I9 without I4", features: features, promises: ["I9"]) { fixture in
            .callback(
                AccessTokenService(
                    loader: SilentLoader(fixture.loader),
                    policy: fixture.policy,
                    clock: fixture.clock,
                    handlerQueue: fixture.handlerQueue
                )
            )
        }
        let rejected: [Step] = [.call, .answer(.token), .pass(.freshness), .call, .reject(.current), .call]
        await expectKept(
            Script(.ahead, rejected + [.answer(.identicalToken), .answer(.identicalToken)]),
            on: subject
        )
        let report = await subject.report(on: "L1", "C5", "I1", "I9")
        #expect(report.isKept, "\(report)")
    }

    /// The load belongs to the session before the handler's sign-in, and begins after it.
    @Test func `whose load ahead begins in a task beside a handler that signs in`() async {
        let features: ContractFeatures = [
            .expiry, .refreshAhead, .invalidation, .signIn, .signOut, .callbackLoader, .deliveryQueue, .currentToken,
            .forcedRefresh,
        ]
        let subject = ContractSubject("loads in a task", features: features) { fixture in
            let service = BuggyService(
                token: nil,
                loader: LateLoader(fixture.loader),
                policy: fixture.policy,
                clock: fixture.clock,
                handlerQueue: fixture.handlerQueue,
                onEvent: { _ in },
                isRefusal: { _ in false },
                bug: nil
            )
            return .callback(
                service,
                refresh: { service.refreshToken(then: $0) },
                signIn: { service.signIn($0) },
                currentToken: { service.currentToken }
            )
        }
        let ahead: [Step] = [.signIn(.valid), .pass(.freshness), .call(then: .signIn)]
        await expectKept(Script(.ahead, ahead + [.refresh]), on: subject)
        await expectKept(Script(.ahead, ahead + [.reject(.current), .call]), on: subject)
    }

    @Test func `that was made with a token of its own which expired a second ago`() async {
        let subject = ContractSubject("has a stored token", features: [.expiry, .callbackLoader, .currentToken]) {
            fixture in
            let stored = AccessToken(value: "stored", expiration: fixture.clock.now - 1)
            let service = AccessTokenService(token: stored, loader: fixture.loader, clock: fixture.clock)
            return .callback(service, currentToken: { service.currentToken })
        }
        await expectKept([.call, .answer(.failure), .pass(.back), .call], on: subject)
    }

    @Test func `that keeps a valid token beside the late answer of a forced load, up to its last moment`() async {
        let features: ContractFeatures = [.expiry, .forcedRefresh, .loadDeadline, .callbackLoader, .currentToken]
        let subject = ContractSubject("keeps what it has", features: features) { fixture in
            let service = BuggyService(for: fixture, bug: nil)
            let first = Locked<AccessToken?>(nil)
            let valid: @Sendable () -> AccessToken? = {
                first.withLock { $0?.expiration.map { fixture.clock.now < $0 } == true ? $0 : nil }
            }
            let keep: @Sendable (LoadResult) -> LoadResult = { result in
                first.withLock { $0 = (try? result.get()) ?? $0 }
                return result
            }
            return .retrieving { handler in
                if let token = valid() { return handler(.success(token)) }
                service.retrieveToken { handler(keep($0)) }
            } refresh: { handler in
                service.refreshToken { handler(keep($0)) }
            } currentToken: {
                valid() ?? service.currentToken
            }
        }
        let late: [Step] = [.call, .answer(.token), .refresh]
        await expectKept(Script(.deadline, late + [.pass(.elevenSeconds), .answer(.token)]), on: subject)
        await expectKept(Script(.deadline, late + [.pass(.beforeEnd), .answer(.token)]), on: subject)
    }

    @Test func `that keeps its second answers for itself, of more than that`() async {
        let subject = PlantedBugTests.smallSubject(bug: .swallowsRepeatedAnswers)
        let violation = await ([.call, .answer(.token), .again(.token)] as Script).play(on: subject)
        #expect(violation?.clause.id == "D11", "\(violation.map { "\($0)" } ?? "kept")")
    }
}

/// Tells its base nothing of the token that is replaced.
private struct SilentLoader: AccessTokenLoader {
    let base: ControlledLoader

    init(_ base: ControlledLoader) { self.base = base }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        base.load(replacing: nil, then: handler)
    }

    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }
}

/// Begins each load a moment after it was asked.
private struct LateLoader: AccessTokenLoader {
    let base: ControlledLoader

    init(_ base: ControlledLoader) { self.base = base }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let base = base
        DispatchQueue.global().async { base.load(replacing: old, then: handler) }
    }

    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }
}
