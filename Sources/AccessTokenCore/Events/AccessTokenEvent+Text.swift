import Foundation

extension AccessTokenEvent: CustomStringConvertible {
    /// The event as one line of a log.
    public var description: String {
        switch kind {
        case .answeredFromCache: "answered from the cache"
        case .loadStarted: "\(theLoad) started for a caller"
        case .joined: "\(theLoad) joined, \(theWaiters) waiting"
        case .refreshAheadStarted: "\(theLoad) started ahead of the expiration"
        case .loadSucceeded: "\(theLoad) brought a token to \(theWaiters) waiting after \(time)"
        case .loadFailed: "\(theLoad) failed \(theWaiters) waiting after \(time) with \(theError)"
        case .loadTimedOut: "\(theLoad) silent past its deadline, failed \(theWaiters) waiting after \(time)"
        case .adoptedLateAnswer: "\(theLoad) brought a token after its deadline; kept"
        case .waiterCancelled: "\(theLoad) lost a cancelled waiter and goes on"
        case .refusedCancelled: "a cancelled caller started nothing"
        case .invalidated: "current token rejected"
        case .signedIn: "signed in, \(theWaiters) waiting answered"
        case .signedOut: "signed out, \(theWaiters) waiting answered"
        case .refusedSignedOut: "a caller was refused: signed out"
        case .refusedLoader: "a loader was refused: it asked its own service during a load"
        case .ignoredAnswerOfFormerSession: "ignored the answer of \(theLoad), which belongs to a former session"
        case .ignoredAnswerOfOlderLoad: "ignored the late answer of \(theLoad): a newer load or token is there"
        case .ignoredWorthlessAnswer: "ignored the late answer of \(theLoad), which brings no valid token"
        case .ignoredRepeatedAnswer: "ignored a repeated answer of \(theLoad)"
        case .ignoredInvalidation: "ignored the rejection of a token that is not the current one"
        case .policyCorrected: "policy corrected: \(detail ?? "")"
        case .eventsLost: "\(count ?? 0) events lost: the event handler is too slow"
        default: kind.description
        }
    }

    private var theLoad: String { "load \(load ?? 0)" }
    private var theWaiters: String { "\(waiters ?? 0)" }
    private var time: String { String(format: "%.3f s", seconds ?? 0) }
    private var theError: String { [errorType, errorCode].compactMap(\.self).joined(separator: ", ") }
}
