public import Foundation

/// Something that happened in a service, for logs, metrics and tests; never with a secret in it.
///
/// Loads are numbered from 1 over the life of a service. Durations are in seconds of the service's clock, and
/// never negative, also when the wall clock is set back during a load. Of a load's error only the type is named,
/// because the text of an error that is not ours may hold anything.
///
/// **Concurrency** Events are delivered one at a time, in the order of the decisions that caused them: on a queue
/// of its own by `AccessTokenService`, on the actor by `AsyncAccessTokenService`. While a service has an event
/// handler, a valid token is handed out a little slower, since each time is an event.
public enum AccessTokenEvent: Hashable, Sendable {
    /// A caller was answered from the cache, without a load (clause C1).
    case answeredFromCache
    /// A caller found no valid token and started load number `load` (clause S1).
    case led(load: Int)
    /// A caller joined load number `load`, as the last of so many `waiters` (clause S2).
    case joined(load: Int, waiters: Int)
    /// A caller inside the refresh-ahead window was answered, and load number `load` runs behind (clause C5).
    case startedBehind(load: Int)
    /// A load brought a token, for so many `waiters`, after `seconds`.
    case loadSucceeded(load: Int, waiters: Int, seconds: TimeInterval)
    /// A load ended with an error of type `errorType`, for so many `waiters`, after `seconds` (clause F1).
    case loadFailed(load: Int, waiters: Int, seconds: TimeInterval, errorType: String)
    /// A load was silent past the deadline and failed so many `waiters` (clause T1).
    case loadTimedOut(load: Int, waiters: Int, seconds: TimeInterval)
    /// The good answer of a load that had timed out came after all and was kept (clause T2).
    case adoptedLateAnswer(load: Int)
    /// One waiter of load number `load` was cancelled; the load goes on (clauses X1 and X2).
    case waiterCancelled(load: Int)
    /// A caller was cancelled before it could wait, and started nothing (clause X3).
    case refusedCancelled
    /// The current token was rejected; the next call loads (clause I1).
    case invalidated
    /// A new session began, and answered so many `waiters` of the one before (clause O2).
    case signedIn(waiters: Int)
    /// The session ended, and so many `waiters` were answered with `signedOut` (clause O1).
    case signedOut(waiters: Int)
    /// A caller was answered with `signedOut` (clause O3).
    case refusedSignedOut
    /// A loader asked its own service during a load, and was answered with an error (clause R1).
    case refusedLoader
    /// Something came that changes nothing any more, and this is why.
    case ignored(Ignored)
    /// A time of the policy made no sense; the text says which, and what it counts as.
    case policyCorrected(String)

    /// What was ignored, and why.
    public enum Ignored: Hashable, Sendable {
        /// The answer of load number `load`, which a sign-in or sign-out had made worthless (clauses O1 and O2).
        case answerOfFormerSession(load: Int)
        /// The late answer of load number `load`: a newer load or token is there (clause S3).
        case answerOfOlderLoad(load: Int)
        /// A late answer of load number `load` that brings no valid token.
        case worthlessLateAnswer(load: Int)
        /// Another answer of load number `load` than its first (clause D7).
        case repeatedAnswer(load: Int)
        /// The invalidation of a token that is not the current one (clause I2).
        case invalidationOfOtherToken
    }
}
