public import AccessTokenAsync
public import AccessTokenCore
public import AccessTokenSynchronization
public import Foundation

/// Answers from the last failure for a moment instead of storming a server that is down.
///
/// A service loads again at the next call after an error, which is right for one caller and a storm with hundreds of
/// them. The moment is `pause`, or what the server asked for by `Retry-After` if that is longer.
///
/// Whether a user is signed in is always found out anew: signing in ends it, and asking costs nothing.
///
/// **Failure** The last failure, unchanged, until the moment is over.
public final class ThrottlingLoader: AsyncAccessTokenLoader {
    private struct Failure: Sendable {
        let error: any Error
        let time: Date
        let pause: TimeInterval
        /// The load that failed, if a service of this package has asked for it.
        let load: Load.ID?
    }

    private let base: any AsyncAccessTokenLoader
    private let pause: TimeInterval
    private let longestPause: TimeInterval
    private let clock: any AccessTokenClock
    private let failure = Locked<Failure?>(nil)
    private let signOuts = Locked(0)

    /// Creates a loader around a loader.
    ///
    /// - Parameters:
    ///   - base: the loader that asks the server.
    ///   - pause: seconds after a failed load in which there is no other.
    ///   - longestPause: seconds up to which a longer pause is kept because the server asks for it.
    ///   - clock: wall clock.
    public init(
        _ base: any AsyncAccessTokenLoader,
        pause: TimeInterval = 2,
        longestPause: TimeInterval = 300,
        clock: any AccessTokenClock = SystemClock()
    ) {
        self.base = base
        self.pause = max(0, pause)
        self.longestPause = max(0, longestPause)
        self.clock = clock
    }

    /// Obtains a new token; see `AsyncAccessTokenLoader.load(replacing:)`.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        let session = signOuts.withLock { $0 }
        if let error = recentError() { throw error }
        do {
            let token = try await base.load(replacing: old)
            forgetFailure()
            return token
        } catch {
            // A load past its deadline was replaced, perhaps by one that succeeded.
            if AccessTokenLoad.isWanted, isWorthRemembering(error) { remember(error, of: session) }
            throw error
        }
    }

    /// Forgets the session that ended, and its last failure; see `AsyncAccessTokenLoader.signOut()`.
    public func signOut() async {
        signOuts.withLock { $0 += 1 }
        forgetFailure()
        await base.signOut()
    }

    /// Lets the next load through, as when the network is back or the user asks to try again.
    public func forgetFailure() {
        failure.withLock { $0 = nil }
    }

    private func recentError() -> (any Error)? {
        let now = clock.now
        let load = LoadContext.currentLoads.last
        return failure.withLock { failure in
            guard let last = failure else { return nil }
            // A failure of the session before says nothing of this one.
            guard last.load?.service != load?.service || last.load?.sessionEpoch == load?.sessionEpoch else {
                failure = nil
                return nil
            }
            let age = now.timeIntervalSince(last.time)
            // A wall clock that was set back must not prolong it.
            guard age >= 0, age < last.pause else {
                failure = nil
                return nil
            }
            return last.error
        }
    }

    /// A load that fails after its session's end says nothing about the next one.
    private func remember(_ error: any Error, of session: Int) {
        let asked = min(longestPause, (error as? OAuthError)?.retryAfter ?? 0)
        let load = LoadContext.currentLoads.last
        let last = Failure(error: error, time: clock.now, pause: max(pause, asked), load: load)
        failure.withLock { failure in
            if signOuts.withLock({ $0 }) == session { failure = last }
        }
    }

    private func isWorthRemembering(_ error: any Error) -> Bool {
        let oauthError = error as? OAuthError
        let isSignedOut = error as? AccessTokenError == .signedOut || oauthError?.requiresSignIn == true
        // The next load sends nothing, unless the app has decided.
        let isHeldBack = oauthError?.sessionMayBeSpent == true
        // A login ends what is wrong with the stored credential, and asking costs no server anything.
        let storeError = error as? CredentialStoreError
        let isUnusable = storeError?.isUnreadable == true || storeError?.isInsecure == true
        return !isSignedOut && !isHeldBack && !isUnusable && !(error is CancellationError)
    }
}
