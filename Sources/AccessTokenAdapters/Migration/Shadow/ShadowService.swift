import AccessTokenAsync
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
/// **What is a difference.** Two different answers to one call are, unless timing explains both. It explains an answer
/// that the service can have had at some moment of the call: both take what they are given in its order, but nobody can
/// see when a service takes in the answer of a load, before it shows it to a caller. A service cannot have an error that
/// it had shown before the call, nor a token of a session that was over, nor one that it had shown and was told to be
/// rejected, nor one in whose place the other service wanted a new one before the call.
///
/// So a load that only one of the two wants is reported with a later call that finds them apart, and not with the call
/// that wanted it: that may have come at the very moment of an expiration. After a difference nothing is reported until
/// both have answered a call alike again. Calls that were cancelled are not compared. ``comparedCalls`` and
/// ``otherCalls`` say how many calls that makes.
///
/// A service may give callers an error of its own in place of a load's, if both give the same one; otherwise that is a
/// difference. Who has a deadline for loads may also be ahead of the other in giving one up: that is timing.
///
/// Both services are taken to decide in the order in which they are called, as one with a queue or a lock does, and to
/// take a sign-in or a sign-out before the answer of a load that comes later.
///
/// **Concurrency** All methods can be called from any thread. The services are called on private serial queues, one for
/// each, so that a shadow that blocks holds up nobody; handlers are called where the serving service calls them.
/// `onDifference` is called on a queue of its own.
///
/// **Failure** What the shadow answers, or that it does not, reaches no caller. A shadow that is 10,000 inputs behind is
/// given nothing any more. While one is silent and its load is running, it is looked at once in each patience, for all
/// calls together. A loader that asks for a token during its load is refused if the serving service is one of this
/// package (R1); a service that cannot tell does what it does without a trial, and hangs perhaps. Such a call is not
/// compared, since the shadow's loads ask nobody.
public final class ShadowService: AccessTokenProviding {
    /// One of the two services.
    public enum Side: Hashable, Sendable {
        /// The service that is to be replaced.
        case old
        /// The service that is to replace it.
        case new
    }

    /// A service on trial, and how a session begins there, which ``AccessTokenProviding`` does not say.
    ///
    /// **Storage** A candidate must load from nowhere but the loader that it is given, and must store nothing where that
    /// loader does: give one that stores credentials itself a scratch store, whether it serves or not. It is told of
    /// access tokens alone. So the refresh token that it knows is that of the start, and in the app's keychain it would
    /// stand in the place of the one that the server has issued since; to use it again looks like theft (RFC 9700,
    /// section 4.14.2). A shadow comes later as well: its sign-out could delete what the next session has stored.
    public struct Candidate: Sendable {
        let provider: any AccessTokenProviding
        let signIn: @Sendable (AccessToken) -> Void

        /// Creates a candidate.
        ///
        /// - Parameters:
        ///   - provider: the service, which loads and stores as the type says.
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
    ///   - patience: the seconds for which a decision of the one is waited for when the other has decided; more than any
    ///     work of a service takes beside its load, and less than a load's deadline.
    ///   - clock: times the patience.
    ///   - old: makes the service that is to be replaced, around the loader that it is given.
    ///   - new: makes the service that is to replace it, around the loader that it is given.
    ///   - onDifference: told of each difference.
    public convenience init(
        serving side: Side,
        loader: any AccessTokenLoader,
        patience: TimeInterval = 10,
        clock: any AccessTokenClock = SystemDispatchClock(),
        old: (any AccessTokenLoader) -> Candidate,
        new: (any AccessTokenLoader) -> Candidate,
        onDifference: @escaping @Sendable (ShadowDifference) -> Void
    ) {
        self.init(
            serving: side,
            loader: loader,
            patience: patience,
            clock: clock,
            queues: ShadowQueues(),
            old: old,
            new: new,
            onDifference: onDifference
        )
    }

    /// Takes its queues: whoever holds them decides what comes before what.
    package init(
        serving side: Side,
        loader: any AccessTokenLoader,
        patience: TimeInterval,
        clock: any AccessTokenClock,
        queues: ShadowQueues,
        old: (any AccessTokenLoader) -> Candidate,
        new: (any AccessTokenLoader) -> Candidate,
        onDifference: @escaping @Sendable (ShadowDifference) -> Void
    ) {
        trial = ShadowTrial(
            serving: side,
            patience: patience,
            clock: clock,
            queues: queues,
            onDifference: onDifference
        )
        let serving = ServingLoader(base: loader, trial: trial)
        let shadow = ShadowLoader(trial: trial)
        switch side {
        case .old: (self.serving, self.shadow) = (old(serving), new(shadow))
        case .new: (self.serving, self.shadow) = (new(serving), old(shadow))
        }
    }

    /// Calls whose answers were alike or a difference.
    public var comparedCalls: Int { trial.callCounts.compared }

    /// Calls that say nothing: they were cancelled, timing explains what differs, or a difference came shortly before.
    public var otherCalls: Int { trial.callCounts.others }

    /// Whether the shadow wants a load that the serving one will not make, so that only the end of patience goes on.
    package var isWaitingForPatience: Bool { trial.isWaitingForPatience }

    /// Whether the shadow wants a load that it was not given the answer of.
    package var isShadowLoading: Bool { trial.isShadowLoading }

    /// How much the trial remembers.
    package var rememberedFacts: Int { trial.rememberedFacts }

    /// Retrieves a token from the serving service; see ``AccessTokenProviding/retrieveToken(then:)``.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let call = trial.newCall()
        let retrievals = Locked<[AccessTokenRetrieval]>([])
        // The serving service must know if it is its own loader that calls (R1).
        trial.give(.call(call), inside: LoadContext.loads + LoaderCall.loads) { [serving, trial] in
            let retrieval = serving.provider.call { result in
                trial.servingAnswered(call, result)
                handler(result)
            }
            retrievals.withLock { $0.insert(retrieval, at: 0) }
        } toShadow: { [shadow, trial] in
            let retrieval = shadow.provider.call { result in
                trial.shadowAnswered(call, result) { shadow.provider.invalidate($0) }
            }
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
        trial.give(.rejection(rejected)) { [serving] in
            serving.provider.invalidate(rejected)
        } toShadow: { [shadow] in
            shadow.provider.invalidate(rejected)
        }
    }

    /// Begins a session with this token in both services.
    public func signIn(_ token: AccessToken) {
        trial.give(.signIn(token)) { [serving] in
            serving.signIn(token)
        } toShadow: { [shadow] in
            shadow.signIn(token)
        }
    }

    /// Ends the session in both services, and calls `done` when the serving one does.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        trial.give(.signOut) { [serving] in
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
