import AccessTokenSynchronization
public import Foundation

/// Says that a session renews no token for a while, because two renewals in a row changed nothing.
///
/// A server that refuses every token would otherwise cost a renewal for each request. Look at the token's audience and
/// scope, and at the server's clock and keys.
public struct RenewalPause: Hashable, Sendable {
    /// The server that rejects the tokens, as `https://host:port`.
    public let origin: String

    /// The status of the last rejection.
    public let status: Int

    /// For how many seconds callers get a rejection as it is.
    public let seconds: TimeInterval

    /// Creates the event, for tests of what handles it.
    public init(origin: String, status: Int, seconds: TimeInterval) {
        self.origin = origin
        self.status = status
        self.seconds = seconds
    }
}

extension RenewalPause: CustomStringConvertible {
    /// The line of a log.
    public var description: String {
        "\(origin) rejected three tokens in a row, the last with status \(status): no renewals for \(Int(seconds)) s"
    }
}

/// What a session does about rejections.
struct RejectionSettings: Sendable {
    var isRejected: @Sendable (BearerReply) -> Bool = { $0.status == 401 }
    var onPause: (@Sendable (RenewalPause) -> Void)?
    var clock: any AccessTokenClock = SystemClock()
}
