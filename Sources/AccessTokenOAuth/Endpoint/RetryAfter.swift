import Foundation

/// Reads the `Retry-After` field: seconds, or a date in one of three forms (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfter {
    /// A server that asks for more than a day is not believed.
    private static let longest: TimeInterval = 86_400

    private static let dateFormats = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ]

    /// Seconds from `now`, 0 for a date that has passed, `nil` for what makes no sense.
    static func seconds(_ field: String?, at now: Date) -> TimeInterval? {
        guard let field = field?.trimmingCharacters(in: .whitespaces), !field.isEmpty else { return nil }
        let seconds = field.utf8.allSatisfy { (48...57).contains($0) } ? TimeInterval(field) : secondsUntil(field, now)
        guard let seconds, seconds <= longest else { return nil }
        return max(0, seconds)
    }

    private static func secondsUntil(_ text: String, _ now: Date) -> TimeInterval? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in dateFormats {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date.timeIntervalSince(now) }
        }
        return nil
    }
}
