import Foundation

/// When a limit ends, says a server that has no `Retry-After` (RFC 9110, section 10.2.3).
///
/// Many servers write `X-RateLimit-Reset` or a name like it. No standard says what that number is: Okta, Auth0 and
/// GitHub name the instant at which the limit ends, in seconds since 1970, and others count seconds from now. The size
/// of the number tells which it is. A number of any other size means nothing here.
enum LimitReset {
    private static let resets = ["X-RateLimit-Reset", "X-Rate-Limit-Reset", "RateLimit-Reset"]
    private static let remaining = ["X-RateLimit-Remaining", "X-Rate-Limit-Remaining", "RateLimit-Remaining"]

    private static let day: TimeInterval = 86_400

    /// Seconds for which the limit lasts, at most a day; `nil` if the reply is about no limit, or does not say.
    static func seconds(_ reply: TokenEndpointReply) -> TimeInterval? {
        let rest = number(remaining, of: reply)
        // Such fields are in other replies as well, and say there when a limit that is not reached begins anew.
        guard rest.map({ $0 <= 0 }) ?? (reply.status == 429) else { return nil }
        if let seconds = number(["X-RateLimit-Reset-After"], of: reply) { return RetryAfter.limited(seconds) }
        guard let reset = number(resets, of: reply), reset >= 0 else { return nil }
        if reset <= day { return reset }
        guard let end = RetryAfter.instant(reset) else { return nil }
        let seconds = end.timeIntervalSince(reply.moment)
        // By this machine's own clock, a longer limit is more likely a wrong clock.
        return reply.sent != nil || seconds <= day ? RetryAfter.limited(seconds) : nil
    }

    private static func number(_ names: [String], of reply: TokenEndpointReply) -> Double? {
        names.lazy.compactMap { reply.header($0) }.first
            .flatMap { RetryAfter.number($0.trimmingCharacters(in: .whitespaces)) }
    }
}
