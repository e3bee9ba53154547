public import AccessTokenAsync
public import AccessTokenCore
public import AccessTokenSynchronization
public import Foundation

/// Loads again after a while when a load failed in a way that may pass: exponential backoff with full jitter.
///
/// Before retry number n it waits for a random time between 0 and `firstDelay` · 2ⁿ⁻¹: many clients that failed
/// together do not come back together; that is added to what the server asked for by `Retry-After`, for the same
/// reason.
///
/// All of it happens inside one load of the service, whose `loadDeadline` goes on meanwhile.
///
/// **Cancellation** A load whose task is cancelled, as a service does at sign-out, is not tried again. Where it waits
/// for a retry, it ends at once with `CancellationError`. A request that was sent is seen through. A load that is past
/// the service's deadline is not tried again either.
///
/// **Failure** The last load's error, unchanged: at once if another try cannot help, or if the server asked for a
/// longer wait than `longestDelay`. A request that the server may have carried out is sent again once at most; which
/// requests these are is told by ``OAuthError/mayHaveBeenCarriedOut``.
public final class RetryingLoader: AsyncAccessTokenLoader {
    private let base: any AsyncAccessTokenLoader
    private let retries: Int
    private let firstDelay: TimeInterval
    private let longestDelay: TimeInterval
    private let clock: any AccessTokenClock
    private let jitter: @Sendable (ClosedRange<TimeInterval>) -> TimeInterval
    private let isTransient: @Sendable (any Error) -> Bool
    private let signOuts = Locked(0)

    /// Creates a loader around a loader.
    ///
    /// - Parameters:
    ///   - base: the loader that asks the server.
    ///   - retries: how often a load is tried again at most.
    ///   - firstDelay: seconds that the first retry waits at most.
    ///   - longestDelay: seconds that the server can ask for, and that chance can add, at most; up to a day.
    ///   - clock: timers.
    ///   - jitter: a number of the range by chance.
    ///   - isTransient: whether an error may pass; of the errors known here, those of ``OAuthError/isTransient`` and
    ///     ``CredentialStoreError/isTransient``.
    public init(
        _ base: any AsyncAccessTokenLoader,
        retries: Int = 3,
        firstDelay: TimeInterval = 0.5,
        longestDelay: TimeInterval = 20,
        clock: any AccessTokenClock = SystemClock(),
        jitter: @escaping @Sendable (ClosedRange<TimeInterval>) -> TimeInterval = { .random(in: $0) },
        isTransient: @escaping @Sendable (any Error) -> Bool = RetryingLoader.mayPass
    ) {
        self.base = base
        self.retries = max(0, retries)
        self.firstDelay = max(0, firstDelay)
        self.longestDelay = min(max(0, longestDelay), 86_400)
        self.clock = clock
        self.jitter = jitter
        self.isTransient = isTransient
    }

    /// Obtains a new token; see `AsyncAccessTokenLoader.load(replacing:)`.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        let session = signOuts.withLock { $0 }
        var failures = Failures()
        while true {
            do {
                return try await base.load(replacing: old)
            } catch {
                guard let delay = delay(after: error, &failures) else { throw error }
                try await clock.pause(for: delay)
                guard signOuts.withLock({ $0 }) == session else { throw AccessTokenError.signedOut }
                // The next load may run already, and would send the same refresh token.
                guard AccessTokenLoad.isWanted else { throw error }
            }
        }
    }

    /// Forgets the session that ended; see `AsyncAccessTokenLoader.signOut()`.
    public func signOut() async {
        signOuts.withLock { $0 += 1 }
        await base.signOut()
    }

    @usableFromInline
    static func mayPass(_ error: any Error) -> Bool {
        (error as? OAuthError)?.isTransient ?? (error as? CredentialStoreError)?.isTransient ?? false
    }

    /// The failures of one load.
    private struct Failures {
        var count = 0
        /// Whether the server may have carried out the request of one of them.
        var mayHaveBeenCarriedOut = false
    }

    /// Seconds until the next retry; `nil` if there is none.
    ///
    /// Not inlined: a load would keep all of this in its frame while it waits for its turn.
    @inline(never)
    private func delay(after error: any Error, _ failures: inout Failures) -> TimeInterval? {
        failures.count += 1
        guard failures.count <= retries, isTransient(error) else { return nil }
        guard let delay = delay(before: failures.count, after: error) else { return nil }
        if (error as? OAuthError)?.mayHaveBeenCarriedOut == true {
            guard !failures.mayHaveBeenCarriedOut else { return nil }
            failures.mayHaveBeenCarriedOut = true
        }
        return delay
    }

    /// `nil` if the server asks for a longer wait than is allowed: to ask it earlier would be in vain.
    private func delay(before retry: Int, after error: any Error) -> TimeInterval? {
        let asked = (error as? OAuthError)?.retryAfter ?? 0
        guard asked <= longestDelay else { return nil }
        let ceiling = min(longestDelay, firstDelay * pow(2, TimeInterval(min(retry, 60) - 1)))
        return asked + jitter(0...ceiling)
    }
}
