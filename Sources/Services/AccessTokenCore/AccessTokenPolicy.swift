public import AccessTokenFoundation
import AccessTokenSynchronization

/// When a token counts as expired, when its successor is loaded, and how long a load may take.
///
/// All times are in seconds. Values that make no sense are corrected, never obeyed: what is negative or not a number
/// counts as 0, and what is longer than a century as a century. A ``loadDeadline`` that is 0, negative, infinite or not
/// a number counts as none. Each correction is reported as an event of the kind
/// ``AccessTokenEvent/Kind/policyCorrected``.
public struct AccessTokenPolicy: Hashable, Sendable {
    /// A token counts as expired this many seconds before its expiration, that instant included (clause C2).
    ///
    /// It pays for the way to the server and for clocks that differ. It is at most half of the life that a token has on
    /// arrival (clause C4).
    public var leeway: TimeInterval

    /// Seconds before expiry in which calls still get the token at once, while one load fetches the next token (clause
    /// C5).
    ///
    /// 0 is off. It is at most half of the token's life after leeway, so that short-lived tokens do not load at each
    /// call (clause C4).
    public var refreshAhead: TimeInterval

    /// A load that has not answered after this many seconds fails its waiters with ``AccessTokenError/loadTimedOut``
    /// (clause T1); `nil` means no deadline, and so do infinity, not-a-number and all that is not positive.
    ///
    /// The load itself is not cancelled: the server may have rotated the refresh token already, and then the late
    /// answer is the only good one (clause T2).
    public var loadDeadline: TimeInterval?

    /// The seconds after a useless load in which no other load of its kind is started.
    ///
    /// Two kinds of loads are useless. One brings a token that has expired already, because the server or this device
    /// has a wrong clock: the token is handed out for these seconds, and loaded again after them. The other is a load
    /// ahead of the expiration that fails: the valid token is handed out, and the next load ahead of its expiration
    /// waits for these seconds. A caller that waits for a token is never given an older error: after a load that
    /// failed, the next call loads at once (clause F2). A rejection of the token ends these seconds: the next call
    /// loads at once (clause I1). 0 is off.
    public var minimumLoadInterval: TimeInterval

    /// Creates a policy; the defaults suit tokens that live for minutes or longer.
    public init(
        leeway: TimeInterval = 30,
        refreshAhead: TimeInterval = 0,
        loadDeadline: TimeInterval? = 60,
        minimumLoadInterval: TimeInterval = 10
    ) {
        self.leeway = leeway
        self.refreshAhead = refreshAhead
        self.loadDeadline = loadDeadline
        self.minimumLoadInterval = minimumLoadInterval
    }
}

extension AccessTokenPolicy {
    /// The policy with every senseless value replaced by what its property's documentation says it counts as.
    package var corrected: AccessTokenPolicy {
        func sensible(_ seconds: TimeInterval) -> TimeInterval {
            seconds.isNaN ? 0 : min(max(0, seconds), .century)
        }
        return AccessTokenPolicy(
            leeway: sensible(leeway),
            refreshAhead: sensible(refreshAhead),
            loadDeadline: loadDeadline.flatMap { $0 > 0 && $0 < .infinity ? sensible($0) : nil },
            minimumLoadInterval: sensible(minimumLoadInterval)
        )
    }

    /// One sentence for each value that ``corrected`` changes; empty for a sensible policy.
    package var corrections: [String] {
        func text(_ seconds: TimeInterval?) -> String { seconds.map { "\($0) s" } ?? "none" }
        let corrected = corrected
        let times: [(name: String, given: TimeInterval?, used: TimeInterval?)] = [
            ("leeway", leeway, corrected.leeway),
            ("refreshAhead", refreshAhead, corrected.refreshAhead),
            ("loadDeadline", loadDeadline, corrected.loadDeadline),
            ("minimumLoadInterval", minimumLoadInterval, corrected.minimumLoadInterval),
        ]
        return times.filter { $0.given != $0.used }
            .map { "\($0.name) \(text($0.given)) makes no sense and counts as \(text($0.used))" }
    }
}
