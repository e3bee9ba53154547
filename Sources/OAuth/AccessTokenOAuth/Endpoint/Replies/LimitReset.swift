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
    /// From 2001 to 2286, in seconds since 1970.
    private static let instants = 1e9..<1e10

    /// Seconds for which the limit lasts, at most a day; `nil` if the reply is about no limit, or does not say.
    static func seconds(_ reply: TokenEndpointReply) -> TimeInterval? {
        let rest = number(remaining, of: reply)
        // Such fields are in other replies as well, and say there when a limit that is not reached begins anew.
        guard rest.map({ $0 <= 0 }) ?? (reply.status == 429) else { return nil }
        if let seconds = number(["X-RateLimit-Reset-After"], of: reply) { return RetryAfter.limited(seconds) }
        guard let reset = number(resets, of: reply), reset >= 0 else { return nil }
        if reset <= day { return reset }
        if instants.contains(reset) { return seconds(until: reset, reply) }
        return instants.contains(reset / 1000) ? seconds(until: reset / 1000, reply) : nil
    }

    private static func seconds(until instant: TimeInterval, _ reply: TokenEndpointReply) -> TimeInterval? {
        let end = Date(timeIntervalSince1970: instant)
        if let now = reply.sent { return RetryAfter.limited(end.timeIntervalSince(now)) }
        let seconds = end.timeIntervalSince(reply.received)
        return seconds <= day ? RetryAfter.limited(seconds) : nil
    }

    private static func number(_ names: [String], of reply: TokenEndpointReply) -> Double? {
        let text = names.lazy.compactMap { reply.header($0) }.first?.trimmingCharacters(in: .whitespaces) ?? ""
        let isDecimal = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        return isDecimal ? Double(text) : nil
    }
}
