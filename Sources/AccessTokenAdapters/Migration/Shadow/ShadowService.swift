public import AccessTokenGCD
import Dispatch
public import Foundation

/// Two services on trial: both decide about every call, one of them loads and answers, and differences are reported.
///
/// It is for the weeks in which a new service is to take the place of an old one. Each call, rejection, sign-in and
/// sign-out reaches both in the same order. The serving one alone answers callers and calls the loader; a load that the
/// other wants is answered with what the serving one's load brought, so that there is never a second request.
///
/// ```swift
/// let tokens = ShadowService(serving: .old, loader: loader) { loader in
///     Candidate(LegacyProvider(loadingFrom: loader))
/// } new: { loader in
///     Candidate(CallbackServiceView(of: AsyncAccessTokenService(loader: AsyncLoaderView(of: loader))))
/// } onDifference: { difference in
///     log("\(difference)")
/// }
/// ```
///
/// **What is compared.** For each call: which load's token, or which error, and whether there is an answer at all. From
/// rest to rest: how many loads were wanted. Not compared, because two correct services may differ there by mere timing:
/// calls that were cancelled; calls made while a load's answer is on its way into one of the services, and what follows
/// until both are at rest and have the same token again; numbers of loads where a session began or ended; and which
/// handler came first. ``comparedCalls`` and ``otherCalls`` say how many calls that makes.
///
/// Both services are taken to decide in the order in which they are called, as one with a queue or a lock does. A call at
/// the very moment of an expiration can be a difference of timing too.
///
/// **Concurrency** All methods can be called from any thread. The services are called on private serial queues, one for
/// each, so that a shadow that blocks holds up nobody; handlers are called where the serving service calls them.
/// `onDifference` is called on a queue of its own.
///
/// **Failure** What the shadow answers, or that it does not, reaches no caller.
public final class ShadowService: AccessTokenProviding {
    /// One of the two services.
    public enum Side: Hashable, Sendable {
        /// The service that is to be replaced.
        case old
        /// The service that is to replace it.
        case new
    }

    /// A service on trial, and how a session begins there, which ``AccessTokenProviding`` does not say.
    public struct Candidate: Sendable {
        let provider: any AccessTokenProviding
        let signIn: @Sendable (AccessToken) -> Void

        /// Creates a candidate.
        ///
        /// - Parameters:
        ///   - provider: the service, which must load from nowhere but the loader that it is given.
        ///   - signIn: gives the service the token of a new session.
        public init(
            _ provider: any AccessTokenProviding,
            signIn: @escaping @Sendable (AccessToken) -> Void = { _ in }
        ) {
            self.provider = provider
            self.signIn = signIn
        }
    }

    private let serving: Candidate
    private let shadow: Candidate
    private let trial: ShadowTrial

    /// Creates both services.
    ///
    /// - Parameters:
    ///   - side: which of the two answers callers and loads; to switch is to change this.
    ///   - loader: the loader of the app.
    ///   - patience: the seconds for which a decision of the one is waited for when the other has decided.
    ///   - clock: times the patience.
    ///   - old: makes the service that is to be replaced, around the loader that it is given.
    ///   - new: makes the service that is to replace it, around the loader that it is given.
    ///   - onDifference: told of each difference.
    public init(
        serving side: Side,
        loader: any AccessTokenLoader,
        patience: TimeInterval = 10,
        clock: any AccessTokenClock = SystemDispatchClock(),
        old: (any AccessTokenLoader) -> Candidate,
        new: (any AccessTokenLoader) -> Candidate,
        onDifference: @escaping @Sendable (ShadowDifference) -> Void
    ) {
        trial = ShadowTrial(serving: side, patience: patience, clock: clock, onDifference: onDifference)
        let serving = ServingLoader(base: loader, trial: trial)
        let shadow = ShadowLoader(trial: trial)
        switch side {
        case .old: (self.serving, self.shadow) = (old(serving), new(shadow))
        case .new: (self.serving, self.shadow) = (new(serving), old(shadow))
        }
    }

    /// Calls that both services answered and whose answers were compared.
    public var comparedCalls: Int { trial.callCounts.compared }

    /// Calls that both services answered, and that say nothing because of their timing.
    public var otherCalls: Int { trial.callCounts.others }

    /// The loads that the two have wanted since they last came to rest.
    package var loadsWanted: (serving: Int, shadow: Int) { trial.loadsWanted }

    /// Whether the shadow wants a load that the serving one will not make, so that only the end of patience goes on.
    package var isWaitingForPatience: Bool { trial.isWaitingForPatience }

    /// Whether both have answered all calls and digested all loads, so that the next input begins a new period.
    package var isAtRest: Bool { trial.isAtRest }

    /// Retrieves a token from the serving service; see ``AccessTokenProviding/retrieveToken(then:)``.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let call = trial.newCall()
        let retrievals = Locked<[AccessTokenRetrieval]>([])
        trial.give(.call(call)) { [serving, trial] in
            let retrieval = serving.provider.call { result in
                trial.answered(call, result, isServing: true)
                handler(result)
            }
            retrievals.withLock { $0.insert(retrieval, at: 0) }
        } toShadow: { [shadow, trial] in
            let retrieval = shadow.provider.call { trial.answered(call, $0, isServing: false) }
            retrievals.withLock { $0.append(retrieval) }
        }
        return AccessTokenRetrieval { [trial] in
            // Each was called before on the queue on which it is cancelled, and so has its retrieval.
            trial.give(.cancellation(call)) {
                retrievals.withLock { $0.first }?.cancel()
            } toShadow: {
                retrievals.withLock { $0.last }?.cancel()
            }
        }
    }

    /// A valid token from the serving service, for async code that was given the trial.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await AsyncServiceView(of: self).token()
    }

    /// Tells both services that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        trial.give(.rejection) { [serving] in
            serving.provider.invalidate(rejected)
        } toShadow: { [shadow] in
            shadow.provider.invalidate(rejected)
        }
    }

    /// Begins a session with this token in both services.
    public func signIn(_ token: AccessToken) {
        trial.give(.newSession) { [serving] in
            serving.signIn(token)
        } toShadow: { [shadow] in
            shadow.signIn(token)
        }
    }

    /// Ends the session in both services, and calls `done` when the serving one does.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        trial.give(.newSession) { [serving] in
            serving.provider.signOut(then: done)
        } toShadow: { [shadow] in
            shadow.provider.signOut {}
        }
    }
}

extension AccessTokenProviding {
    /// Calls from inside a closure that the compiler takes for async code.
    fileprivate func call(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        retrieveToken(then: handler)
    }
}
