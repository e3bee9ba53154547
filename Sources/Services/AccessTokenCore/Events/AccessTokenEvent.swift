public import Foundation

/// Something that happened in a service, for logs, metrics and tests; never with a secret in it.
///
/// Switch over ``kind``, with a `default`: later versions add kinds. The other properties are there where the kind says so.
///
/// **Concurrency** Events are delivered one at a time, in the order of the decisions that caused them, on one thread that
/// all services of the process share. A handler that blocks holds up other events, those of other services too, and
/// nothing else. At most 1,000 events of a service wait; those that come while so many wait are dropped, and the next one
/// delivered is ``eventsLost(count:)``. While a service has an event handler, a valid token is handed out a little slower,
/// since each time is an event.
public struct AccessTokenEvent: Hashable, Sendable {
    /// What kind of event it is: a stable name, fit for a metric's label.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name that the kind has in code.
        public let description: String

        /// The line of a log for such an event, with the names of its properties in braces.
        let line: String

        private init(_ name: String, _ line: String) {
            description = name
            self.line = line
        }

        /// A caller was answered from the cache, without a load (clause C1).
        public static var answeredFromCache: Kind { Kind("answeredFromCache", "answered from the cache") }
        /// A caller found no valid token and started a load (clause S1).
        public static var loadStarted: Kind { Kind("loadStarted", "load {load} started for a caller") }
        /// A caller joined a load, as the last of so many `waiters` (clause S2).
        public static var joined: Kind { Kind("joined", "load {load} joined, {waiters} waiting") }
        /// A caller inside the refresh-ahead window was answered, and a load was started for those to come (clause C5).
        public static var refreshAheadStarted: Kind {
            Kind("refreshAheadStarted", "load {load} started ahead of the expiration")
        }
        /// A load brought a token, for so many `waiters`, after `seconds`.
        public static var loadSucceeded: Kind {
            Kind("loadSucceeded", "load {load} brought a token to {waiters} waiting after {seconds} s")
        }
        /// A load ended with an error, for so many `waiters`, after `seconds` (clause F1).
        public static var loadFailed: Kind {
            Kind("loadFailed", "load {load} failed {waiters} waiting after {seconds} s with {error}")
        }
        /// A load was silent past the deadline, and failed so many `waiters` after `seconds` (clause T1).
        public static var loadTimedOut: Kind {
            Kind("loadTimedOut", "load {load} silent past its deadline, failed {waiters} waiting after {seconds} s")
        }
        /// The good answer of a load that had timed out came after all and was kept (clause T2).
        public static var adoptedLateAnswer: Kind {
            Kind("adoptedLateAnswer", "load {load} brought a token after its deadline; kept")
        }
        /// One waiter of a load was cancelled; the load goes on (clauses X1 and X2).
        public static var waiterCancelled: Kind {
            Kind("waiterCancelled", "load {load} lost a cancelled waiter and goes on")
        }
        /// A caller was cancelled before it could wait, and started nothing (clause X3).
        public static var refusedCancelled: Kind { Kind("refusedCancelled", "a cancelled caller started nothing") }
        /// The current token was rejected; the next call loads (clause I1).
        public static var invalidated: Kind { Kind("invalidated", "current token rejected") }
        /// A new session began, and answered so many `waiters` of the one before (clause O2).
        public static var signedIn: Kind { Kind("signedIn", "signed in, {waiters} waiting answered") }
        /// The session ended, and so many `waiters` were answered with `signedOut` (clause O1).
        public static var signedOut: Kind { Kind("signedOut", "signed out, {waiters} waiting answered") }
        /// The loader did not answer a sign-out within the policy's `loadDeadline`: the sign-out was done without it.
        public static var signOutTimedOut: Kind {
            Kind("signOutTimedOut", "the loader did not answer a sign-out in time; signed out without it")
        }
        /// A caller was answered with `signedOut` (clause O3).
        public static var refusedSignedOut: Kind { Kind("refusedSignedOut", "a caller was refused: signed out") }
        /// A loader asked its own service during a load, and was answered with an error (clause R1).
        public static var refusedLoader: Kind {
            Kind("refusedLoader", "a loader was refused: it asked its own service during a load")
        }
        /// A load answered whose session is over: the answer changes nothing (clauses O1 and O2).
        public static var ignoredAnswerOfFormerSession: Kind {
            Kind("ignoredAnswerOfFormerSession", "ignored the answer of load {load}, which belongs to a former session")
        }
        /// A load answered late, and a newer load or token is there (clause S3).
        public static var ignoredAnswerOfOlderLoad: Kind {
            Kind("ignoredAnswerOfOlderLoad", "ignored the late answer of load {load}: a newer load or token is there")
        }
        /// A load answered late, without a valid token.
        public static var ignoredWorthlessAnswer: Kind {
            Kind("ignoredWorthlessAnswer", "ignored the late answer of load {load}, which brings no valid token")
        }
        /// A load answered once more than once (clause D7).
        public static var ignoredRepeatedAnswer: Kind {
            Kind("ignoredRepeatedAnswer", "ignored a repeated answer of load {load}")
        }
        /// A token was rejected that is not the current one (clause I2).
        public static var ignoredInvalidation: Kind {
            Kind("ignoredInvalidation", "ignored the rejection of a token that is not the current one")
        }
        /// A time of the policy made no sense; `detail` says which, and what it counts as.
        public static var policyCorrected: Kind { Kind("policyCorrected", "policy corrected: {detail}") }
        /// Events were dropped, because the event handler was too slow; `count` says how many.
        public static var eventsLost: Kind { Kind("eventsLost", "{count} events lost: the event handler is too slow") }
    }

    /// What happened.
    public let kind: Kind
    /// The number of the load that the event is about, from 1 over the life of a service.
    public private(set) var load: Int?
    /// How many callers waited.
    public private(set) var waiters: Int?
    /// How long the load took, in seconds of the service's clock; never negative, even if the wall clock was set back.
    public private(set) var seconds: TimeInterval?
    /// The type of a load's error.
    ///
    /// Its text is not in the event, since the text of an error may hold anything.
    public private(set) var errorType: String?
    /// The stable code of a load's error, if it has one: see ``LoggableError``.
    public private(set) var errorCode: String?
    /// How many events were lost.
    public private(set) var count: Int?
    /// One sentence about a corrected policy.
    public private(set) var detail: String?

    private init(_ kind: Kind) { self.kind = kind }

    private init(_ kind: Kind, load: Int) {
        self.kind = kind
        self.load = load
    }

    private init(_ kind: Kind, waiters: Int) {
        self.kind = kind
        self.waiters = waiters
    }

    private init(_ kind: Kind, load: Int, waiters: Int, seconds: TimeInterval) {
        self.init(kind, load: load)
        self.waiters = waiters
        self.seconds = seconds
    }
}

/// Each kind of event as a value, for tests of an event handler.
extension AccessTokenEvent {
    /// See ``Kind/answeredFromCache``.
    public static var answeredFromCache: AccessTokenEvent { AccessTokenEvent(.answeredFromCache) }

    /// See ``Kind/loadStarted``.
    public static func loadStarted(load: Int) -> AccessTokenEvent { AccessTokenEvent(.loadStarted, load: load) }

    /// See ``Kind/joined``.
    public static func joined(load: Int, waiters: Int) -> AccessTokenEvent {
        var event = AccessTokenEvent(.joined, load: load)
        event.waiters = waiters
        return event
    }

    /// See ``Kind/refreshAheadStarted``.
    public static func refreshAheadStarted(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.refreshAheadStarted, load: load)
    }

    /// See ``Kind/loadSucceeded``.
    public static func loadSucceeded(load: Int, waiters: Int, seconds: TimeInterval) -> AccessTokenEvent {
        AccessTokenEvent(.loadSucceeded, load: load, waiters: waiters, seconds: seconds)
    }

    /// See ``Kind/loadFailed``.
    public static func loadFailed(
        load: Int,
        waiters: Int,
        seconds: TimeInterval,
        errorType: String,
        errorCode: String? = nil
    ) -> AccessTokenEvent {
        var event = AccessTokenEvent(.loadFailed, load: load, waiters: waiters, seconds: seconds)
        event.errorType = errorType
        event.errorCode = errorCode
        return event
    }

    /// See ``Kind/loadTimedOut``.
    public static func loadTimedOut(load: Int, waiters: Int, seconds: TimeInterval) -> AccessTokenEvent {
        AccessTokenEvent(.loadTimedOut, load: load, waiters: waiters, seconds: seconds)
    }

    /// See ``Kind/adoptedLateAnswer``.
    public static func adoptedLateAnswer(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.adoptedLateAnswer, load: load)
    }

    /// See ``Kind/waiterCancelled``.
    public static func waiterCancelled(load: Int) -> AccessTokenEvent { AccessTokenEvent(.waiterCancelled, load: load) }

    /// See ``Kind/refusedCancelled``.
    public static var refusedCancelled: AccessTokenEvent { AccessTokenEvent(.refusedCancelled) }

    /// See ``Kind/invalidated``.
    public static var invalidated: AccessTokenEvent { AccessTokenEvent(.invalidated) }

    /// See ``Kind/signedIn``.
    public static func signedIn(waiters: Int) -> AccessTokenEvent { AccessTokenEvent(.signedIn, waiters: waiters) }

    /// See ``Kind/signedOut``.
    public static func signedOut(waiters: Int) -> AccessTokenEvent { AccessTokenEvent(.signedOut, waiters: waiters) }

    /// See ``Kind/signOutTimedOut``.
    public static var signOutTimedOut: AccessTokenEvent { AccessTokenEvent(.signOutTimedOut) }

    /// See ``Kind/refusedSignedOut``.
    public static var refusedSignedOut: AccessTokenEvent { AccessTokenEvent(.refusedSignedOut) }

    /// See ``Kind/refusedLoader``.
    public static var refusedLoader: AccessTokenEvent { AccessTokenEvent(.refusedLoader) }

    /// See ``Kind/ignoredAnswerOfFormerSession``.
    public static func ignoredAnswerOfFormerSession(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.ignoredAnswerOfFormerSession, load: load)
    }

    /// See ``Kind/ignoredAnswerOfOlderLoad``.
    public static func ignoredAnswerOfOlderLoad(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.ignoredAnswerOfOlderLoad, load: load)
    }

    /// See ``Kind/ignoredWorthlessAnswer``.
    public static func ignoredWorthlessAnswer(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.ignoredWorthlessAnswer, load: load)
    }

    /// See ``Kind/ignoredRepeatedAnswer``.
    public static func ignoredRepeatedAnswer(load: Int) -> AccessTokenEvent {
        AccessTokenEvent(.ignoredRepeatedAnswer, load: load)
    }

    /// See ``Kind/ignoredInvalidation``.
    public static var ignoredInvalidation: AccessTokenEvent { AccessTokenEvent(.ignoredInvalidation) }

    /// See ``Kind/policyCorrected``.
    public static func policyCorrected(_ detail: String) -> AccessTokenEvent {
        var event = AccessTokenEvent(.policyCorrected)
        event.detail = detail
        return event
    }

    /// See ``Kind/eventsLost``.
    public static func eventsLost(count: Int) -> AccessTokenEvent {
        var event = AccessTokenEvent(.eventsLost)
        event.count = count
        return event
    }
}
