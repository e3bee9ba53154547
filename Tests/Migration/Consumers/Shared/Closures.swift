// Every closure that a consumer hands to the package, formed in a class on the main actor, in an actor, in a value and
// in a function, from closure expressions and from references to functions.
import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Dispatch
import Foundation

@Sendable nonisolated private func print(_ result: Result<AccessToken, any Error>) {
    Swift.print(result)
}

@Sendable nonisolated private func report(_ event: AccessTokenEvent) {
    Swift.print(event)
}

nonisolated enum ClosuresOfFunctions {
    static func pass(to service: AccessTokenService, _ actor: AsyncAccessTokenService) async throws {
        call(service)
        call(CallbackServiceAdapter(of: actor))
        leave(actor)
        await actor.signOut()
        _ = try await actor.withToken { $0.value }
        _ = try await service.withToken(isRejected: { $0 == 401 }) { token in token.value.count }

        let accounts = AccessTokenAccounts { (_: Int) in AccessTokenService(loader: Callbacks.Value()) }
        _ = accounts.service(for: 1)
        await accounts.signOut(1)

        let timer = ManualClock().schedule(after: 1) { Swift.print("time") }
        timer.cancel()
        _ = AccessTokenTimer(onCancel: done)
        _ = AccessTokenRetrieval(onCancel: done)
    }

    static func call(_ service: some AccessTokenProviding) {
        service.retrieveToken(then: print)
        service.retrieveToken { result in Swift.print(result) }.cancel()
        service.signOut { Swift.print("signed out") }
        service.signOut(then: done)
        service.withToken(isRejected: { $0 == 401 }) { token, reply in
            reply(.success(token.value.count))
        } then: { result in
            Swift.print(result)
        }
    }

    static func leave(_ actor: AsyncAccessTokenService) {
        let tokens = CallbackServiceAdapter(of: actor)
        tokens.signOut(then: done)
        tokens.signOut { Swift.print("signed out") }
    }

    static func make() {
        _ = AccessTokenService(loader: Callbacks.Value(), onEvent: report)
        _ = AccessTokenService(loader: Callbacks.Value(), onEvent: { Swift.print($0) })
        _ = AccessTokenService(loader: Callbacks.Value(), onEvent: AccessTokenEventLog.standardError())
        _ = AsyncAccessTokenService(loader: Async.Value(), onEvent: report)
        _ = AsyncLoaderAdapter(of: Callbacks.Value(), onEvent: report)
        _ = ContractSubject("closures", features: [.invalidation, .signIn, .signOut]) { fixture in
            let service = AccessTokenService(loader: fixture.loader, onEvent: fixture.onEvent)
            return .retrieving { handler in
                service.retrieveToken(then: handler)
            } invalidate: { token in
                service.invalidate(token)
            } signIn: { token in
                service.signIn(token)
            } signOut: {
                await service.signOut()
            }
        }
    }

    @Sendable static func done() {}
}

@MainActor
final class ClosuresOfMainActor {
    private(set) var shown: [String] = []
    let service = AccessTokenService(loader: Callbacks.Value(), handlerQueue: .main)
    let asyncService = AsyncAccessTokenService(loader: Async.Value())

    func call(then done: @escaping @MainActor @Sendable () -> Void) {
        service.retrieveToken { result in
            MainActor.assumeIsolated { self.show(result, done) }
        }
    }

    func callOnAnyQueue(_ tokens: any AccessTokenProviding, then done: @escaping @MainActor @Sendable () -> Void) {
        tokens.retrieveToken { result in
            DispatchQueue.main.async { self.show(result, done) }
        }
    }

    func callWeakly(_ tokens: any AccessTokenProviding, then done: @escaping @MainActor @Sendable () -> Void) {
        tokens.retrieveToken { [weak self] result in
            Task { @MainActor [weak self] in self?.show(result, done) }
        }
    }

    func callThatCapturesNothing(_ tokens: any AccessTokenProviding) {
        tokens.retrieveToken { result in _ = result }.cancel()
        tokens.signOut {}
    }

    func send(_ tokens: any AccessTokenProviding, then done: @escaping @MainActor @Sendable () -> Void) {
        tokens.withToken { token, reply in
            reply(.success(token.value))
        } then: { result in
            Task { @MainActor in
                self.shown.append("\(result)"); done()
            }
        }
    }

    func send() async throws -> Int {
        try await asyncService.withToken(isRejected: { $0 == 401 }) { token in
            shown.append(token.value)
            return shown.count
        }
    }

    func signOut(then done: @escaping @MainActor @Sendable () -> Void) {
        service.signOut { MainActor.assumeIsolated { done() } }
    }

    func await() async throws -> String {
        try await asyncService.token().value
    }

    func watched() -> AccessTokenService {
        AccessTokenService(loader: Callbacks.Value()) { event in
            Task { @MainActor in self.shown.append("\(event)") }
        }
    }

    func watchedActor() -> AsyncAccessTokenService {
        AsyncAccessTokenService(loader: Async.Value()) { event in
            Task { @MainActor in self.shown.append("\(event)") }
        }
    }

    private func show(_ result: Result<AccessToken, any Error>, _ done: @MainActor () -> Void) {
        MainActor.preconditionIsolated()
        shown.append("\(result)")
        done()
    }
}

actor ClosuresOfActor {
    private var shown: [String] = []

    func call(_ tokens: any AccessTokenProviding) {
        callSynchronously(tokens)
    }

    private func callSynchronously(_ tokens: any AccessTokenProviding) {
        tokens.retrieveToken { result in
            Task { await self.show(result) }
        }
    }

    private func show(_ result: Result<AccessToken, any Error>) {
        shown.append("\(result)")
    }
}

enum Errors {
    static func meaning(of error: any Error) -> String {
        do {
            throw error
        } catch AccessTokenError.signedOut {
            return "signed out"
        } catch AccessTokenError.loadTimedOut {
            return "timed out"
        } catch is CancellationError {
            return "cancelled"
        } catch OAuthError.timedOut {
            return "the endpoint timed out"
        } catch CredentialStoreError.busy {
            return "the store is busy"
        } catch {
            return "\(error)"
        }
    }
}
