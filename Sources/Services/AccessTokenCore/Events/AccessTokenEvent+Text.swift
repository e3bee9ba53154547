import Foundation

extension AccessTokenEvent: CustomStringConvertible {
    /// The event as one line of a log.
    public var description: String {
        let properties = [
            ("{load}", load.map { "\($0)" }),
            ("{waiters}", waiters.map { "\($0)" }),
            ("{seconds}", seconds.map { String(format: "%.3f", $0) }),
            ("{count}", count.map { "\($0)" }),
            ("{error}", errorCode.map { "\(errorType ?? ""), \($0)" } ?? errorType),
            ("{detail}", detail),
        ]
        return properties.reduce(kind.line) { line, property in
            line.replacingOccurrences(of: property.0, with: property.1 ?? "")
        }
    }
}
