public import AccessTokenFoundation

/// Something that happened in a service, for logs, metrics and tests; never with a secret in it.
///
/// Switch over ``kind``, with a `default`: later versions add kinds. The other properties are there where the kind says
/// so.
///
/// **Concurrency** Events are delivered one at a time, in the order of the decisions that caused them, on one thread
/// that all services of the process share. A handler that blocks holds up other events, those of other services too,
/// and nothing else. A service queues at most 1,000 events, while up to 1,000 more are being delivered. Further events
/// are dropped, and ``Kind/eventsLost`` reports how many. While a service has an event handler, a valid token is handed
/// out a little slower, since each time is an event.
public struct AccessTokenEvent: Hashable, Sendable {
    /// What kind of event it is: a stable name, fit for a metric's label.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name that the kind has in code.
        public let description: String

        /// The line of a log for such an event, with the names of its properties in braces.
        let line: String

        private init(_ line: String, name: String = #function) {
            description = name
            self.line = line
        }

        /// A caller was answered from the cache, without a load (clause C1).
        public static var answeredFromCache: Kind { Kind("answered from the cache") }
        /// A caller found no valid token and started a load (clause S1).
        public static var loadStarted: Kind { Kind("load {load} started for a caller") }
        /// A caller joined a load, and is the last of its `waiters` (clause S2).
        public static var joined: Kind { Kind("load {load} joined, {waiters} waiting") }
        /// A caller inside the refresh-ahead window was answered, and a load was started for those to come (clause C5).
        public static var refreshAheadStarted: Kind { Kind("load {load} started ahead of the expiration") }
        /// A load brought its `waiters` a token after `seconds`.
        public static var loadSucceeded: Kind {
            Kind("load {load} brought a token to {waiters} waiting after {seconds} s")
        }
        /// A load ended with an error for its `waiters` after `seconds` (clause F1).
        public static var loadFailed: Kind {
            Kind("load {load} failed {waiters} waiting after {seconds} s with {error}")
        }
        /// A load was silent past the deadline, and failed its `waiters` after `seconds` (clause T1).
        public static var loadTimedOut: Kind {
            Kind("load {load} silent past its deadline, failed {waiters} waiting after {seconds} s")
        }
        /// The good answer of a load that had timed out came after all and was kept (clause T2).
        public static var adoptedLateAnswer: Kind { Kind("load {load} brought a token after its deadline; kept") }
        /// The good answer of a load that had timed out came while a newer load runs; kept in case that this one fails
        /// (clause T2).
        public static var keptLateAnswer: Kind {
            Kind("load {load} brought a token after its deadline; kept in case that the running load fails")
        }
        /// The session cannot go on without a login: the server has ended it, another process has signed out, or the
        /// server wants to see the user.
        ///
        /// A load failed with such an error, or ``StoredSession`` said so. It is reported once, until there is a token
        /// again; a sign-out by the app is ``signedOut``.
        public static var loginNeeded: Kind { Kind("only a login helps, says {error}") }
        /// One waiter of a load was cancelled; the load goes on (clauses X1 and X2).
        public static var waiterCancelled: Kind { Kind("load {load} lost a cancelled waiter and goes on") }
        /// A caller was cancelled before it could wait, and started nothing (clause X3).
        public static var refusedCancelled: Kind { Kind("a cancelled caller started nothing") }
        /// The current token was rejected; the next call loads (clause I1).
        public static var invalidated: Kind { Kind("current token rejected") }
        /// A new session began, and answered the `waiters` of the one before (clause O2).
        public static var signedIn: Kind { Kind("signed in, {waiters} waiting answered") }
        /// The session ended, if there was one, and its `waiters` were answered with `signedOut` (clause O1).
        public static var signedOut: Kind { Kind("signed out, {waiters} waiting answered") }
        /// The loader did not answer a sign-out within the policy's `loadDeadline`: the sign-out was done without it.
        public static var signOutTimedOut: Kind {
            Kind("the loader did not answer a sign-out in time; signed out without it")
        }
        /// A caller was answered with `signedOut` (clause O3).
        public static var refusedSignedOut: Kind { Kind("a caller was refused: signed out") }
        /// A loader asked its own service during a load, and was answered with an error (clause R1).
        public static var refusedLoader: Kind { Kind("a loader was refused: it asked its own service during a load") }
        /// A load answered whose session is over: the answer changes nothing (clauses O1 and O2).
        public static var ignoredAnswerOfFormerSession: Kind {
            Kind("ignored the answer of load {load}, which belongs to a former session")
        }
        /// A load answered late, and a newer load or token is there (clause S3).
        public static var ignoredAnswerOfOlderLoad: Kind {
            Kind("ignored the late answer of load {load}: a newer load or token is there")
        }
        /// A load answered late without a valid token; or it brought one that had been rejected meanwhile (clause I9),
        /// or that had expired while the present one is still valid (clause C8).
        public static var ignoredWorthlessAnswer: Kind {
            Kind("ignored the answer of load {load}, which brings no valid token")
        }
        /// A load answered once more than once (clause D7).
        public static var ignoredRepeatedAnswer: Kind { Kind("ignored a repeated answer of load {load}") }
        /// A token was rejected that is not the current one (clause I2).
        public static var ignoredInvalidation: Kind {
            Kind("ignored the rejection of a token that is not the current one")
        }
        /// A time of the policy made no sense; `detail` says which, and what it counts as.
        public static var policyCorrected: Kind { Kind("policy corrected: {detail}") }
        /// Events were dropped, because the event handler was too slow; `count` says how many.
        public static var eventsLost: Kind { Kind("{count} events lost: the event handler is too slow") }
    }

    /// What happened.
    public let kind: Kind
    /// The number of the load that the event is about, from 1 over the life of a service.
    ///
    /// A load that waits for one of the session before (O9) has no number yet. The event of a caller that joins it, or
    /// is cancelled, has the number of the load that starts next. That may be another one, if all callers are
    /// cancelled.
    public let load: Int?
    /// How many callers waited.
    public let waiters: Int?
    /// How long the load took, in seconds of the service's clock; never negative, even if the wall clock was set back.
    public let seconds: TimeInterval?
    /// The type of a load's error.
    ///
    /// Its text is not in the event, since the text of an error may hold anything.
    public let errorType: String?
    /// The stable code of a load's error, if it has one: see ``LoggableError``.
    public let errorCode: String?
    /// How many events were lost.
    public let count: Int?
    /// One sentence about a corrected policy.
    public let detail: String?

    /// An event of a kind, for tests of an event handler.
    public init(
        _ kind: Kind,
        load: Int? = nil,
        waiters: Int? = nil,
        seconds: TimeInterval? = nil,
        errorType: String? = nil,
        errorCode: String? = nil,
        count: Int? = nil,
        detail: String? = nil
    ) {
        self.kind = kind
        self.load = load
        self.waiters = waiters
        self.seconds = seconds
        self.errorType = errorType
        self.errorCode = errorCode
        self.count = count
        self.detail = detail
    }
}

extension AccessTokenEvent: CustomStringConvertible {
    /// The event as one line of a log.
    public var description: String {
        // What a clock gives may not fit: then the line has no number, and the service goes on.
        let milliseconds = seconds.flatMap { Int(exactly: ($0 * 1_000).rounded()) }
        let values: [String: String?] = [
            "load": load.map { "\($0)" },
            "waiters": waiters.map { "\($0)" },
            "seconds": milliseconds.map { "\($0 / 1_000).\("\(1_000 + $0 % 1_000)".dropFirst())" },
            "count": count.map { "\($0)" },
            "error": errorCode.map { "\(errorType ?? ""), \($0)" } ?? errorType,
            "detail": detail,
        ]
        // Text and names of properties in turn.
        let parts = kind.line.split(omittingEmptySubsequences: false) { $0 == "{" || $0 == "}" }
        return parts.enumerated().map { $0 % 2 == 0 ? String($1) : values[String($1)].flatMap { $0 } ?? "" }.joined()
    }
}
