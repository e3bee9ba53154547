import Foundation

/// Reads the `Retry-After` field: seconds, or a date in one of three forms (RFC 9110, sections 10.2.3 and 5.6.7).
///
/// Servers also write fractions of a second, and an instant as a number.
enum RetryAfter {
    /// A server that asks for more than a day is asked again after a day.
    private static let longest: TimeInterval = 86_400

    /// From 2001 to 2286, in seconds since 1970.
    private static let instants = 1e9..<1e10

    /// No date of these forms is longer.
    private static let longestDate = 40

    /// How many commas are looked at.
    private static let mostParts = 16

    /// Made once: to make a formatter takes longer than to read a whole reply.
    private static let formatters = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ].map { format in
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = format
        return formatter
    }

    /// Seconds from `now`, 0 for a date that has passed, `nil` for what makes no sense; of several fields the longest.
    static func seconds(_ field: String?, at now: Date) -> TimeInterval? {
        // Fields of one name come as one with commas (RFC 9110, section 5.3), and a date may have a comma of its own.
        let parts = (field ?? "").split(separator: ",", maxSplits: mostParts).map(String.init)
        let dates = zip(parts, parts.dropFirst()).map { "\($0),\($1)" }
        return (parts + dates).compactMap { seconds(of: $0, at: now) }.max()
    }

    private static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let field = value.trimmingCharacters(in: .whitespaces)
        guard let number = number(field) else { return date(field).map { limited($0.timeIntervalSince(now)) } }
        return limited(instant(number)?.timeIntervalSince(now) ?? number)
    }

    /// A decimal number, without a sign and an exponent.
    static func number(_ text: String) -> Double? {
        text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") } ? Double(text) : nil
    }

    /// The instant that a number is, in seconds or milliseconds since 1970; `nil` for a number of another size.
    static func instant(_ number: Double) -> Date? {
        [number, number / 1000].first(where: instants.contains).map(Date.init(timeIntervalSince1970:))
    }

    /// Seconds from none to a day.
    static func limited(_ seconds: TimeInterval) -> TimeInterval { min(max(0, seconds), longest) }

    /// A date of the three forms.
    static func date(_ text: String) -> Date? {
        // On Linux the formatter traps at some characters beyond ASCII, which no date of these forms has.
        guard text.utf8.count <= longestDate, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return formatters.lazy.compactMap { $0.date(from: text) }.first
    }
}
