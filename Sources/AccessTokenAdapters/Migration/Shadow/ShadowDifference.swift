/// Two services decided differently about the same thing; never with a secret in it.
public struct ShadowDifference: Hashable, Sendable {
    /// Which of the two the callers are answered by.
    public let serving: ShadowService.Side

    /// What the old service decided.
    public let old: Decision

    /// What the new service decided.
    public let new: Decision

    /// What a service decided, about a call or about loading.
    public enum Decision: Hashable, Sendable {
        /// Answered with the token that this load had brought before the call; `nil` for a token that no load brought.
        case cached(load: Int?)
        /// Answered with the token that this load brought after the call.
        case loaded(load: Int)
        /// Answered with an error: the name of an ``AccessTokenError``, or the type of any other.
        case failed(String)
        /// Did not answer, while the other did.
        case silent
        /// Wanted a load, and did not answer before; while the other, asked later than that, had no need of one.
        case wantedLoad
    }

    package init(serving: ShadowService.Side, _ decision: Decision, shadow: Decision) {
        self.serving = serving
        old = serving == .old ? decision : shadow
        new = serving == .new ? decision : shadow
    }
}

extension ShadowDifference: CustomStringConvertible {
    /// Both decisions in one line.
    public var description: String {
        "old\(serving == .old ? " (serving)" : ""): \(old); new\(serving == .new ? " (serving)" : ""): \(new)"
    }
}

extension ShadowDifference.Decision: CustomStringConvertible {
    /// The decision in a few words.
    public var description: String {
        switch self {
        case .cached(let load?): "the cached token of load \(load)"
        case .cached(nil): "a token of no load"
        case .loaded(let load): "the token of load \(load)"
        case .failed(let error): "the error \(error)"
        case .silent: "no answer"
        case .wantedLoad: "a load wanted"
        }
    }
}
