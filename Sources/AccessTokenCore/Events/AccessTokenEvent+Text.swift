import Foundation

extension AccessTokenEvent: CustomStringConvertible {
    /// The event as one line of a log.
    public var description: String {
        switch self {
        case .answeredFromCache: "answered from the cache"
        case .led(let load): "load \(load) started for a caller"
        case .joined(let load, let waiters): "load \(load) joined, \(waiters) waiting"
        case .startedBehind(let load): "load \(load) started ahead of the expiration"
        case .loadSucceeded(let load, let waiters, let seconds):
            "load \(load) brought a token to \(waiters) waiting after \(text(seconds))"
        case .loadFailed(let load, let waiters, let seconds, let errorType):
            "load \(load) failed \(waiters) waiting after \(text(seconds)) with \(errorType)"
        case .loadTimedOut(let load, let waiters, let seconds):
            "load \(load) silent past its deadline, failed \(waiters) waiting after \(text(seconds))"
        case .adoptedLateAnswer(let load): "load \(load) brought a token after its deadline; kept"
        case .waiterCancelled(let load): "load \(load) lost a cancelled waiter and goes on"
        case .refusedCancelled: "a cancelled caller started nothing"
        case .invalidated: "current token rejected"
        case .signedIn(let waiters): "signed in, \(waiters) waiting answered"
        case .signedOut(let waiters): "signed out, \(waiters) waiting answered"
        case .refusedSignedOut: "a caller was refused: signed out"
        case .refusedLoader: "a loader was refused: it asked its own service during a load"
        case .ignored(let what): "ignored \(what)"
        case .policyCorrected(let what): "policy corrected: \(what)"
        }
    }

    private func text(_ seconds: TimeInterval) -> String {
        String(format: "%.3f s", seconds)
    }
}

extension AccessTokenEvent.Ignored: CustomStringConvertible {
    /// What was ignored and why, as part of a line of a log.
    public var description: String {
        switch self {
        case .answerOfFormerSession(let load): "the answer of load \(load), which belongs to a former session"
        case .answerOfOlderLoad(let load): "the late answer of load \(load): a newer load or token is there"
        case .worthlessLateAnswer(let load): "the late answer of load \(load), which brings no valid token"
        case .repeatedAnswer(let load): "a repeated answer of load \(load)"
        case .invalidationOfOtherToken: "the rejection of a token that is not the current one"
        }
    }
}
