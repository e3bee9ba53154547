public import AccessTokenFoundation
package import AccessTokenSynchronization

/// An OAuth 2.0 access token: what a resource server accepts, and for how long (RFC 6749, section 1.4).
///
/// A token never prints its value: not in a description, a debugger's dump or a reflection. `Codable` does
/// write the value, because that is how a token is stored; store it only where secrets belong.
public struct AccessToken: Hashable, Sendable, Codable {
    /// The secret itself, as it goes into an `Authorization: Bearer` header (RFC 6750, section 2.1).
    public let value: String

    /// The wall-clock time at which the token stops being valid; `nil` means valid until it is rejected.
    public let expiration: Date?

    /// Creates a token.
    ///
    /// `expires_in` of a token response (RFC 6749, section 5.1) counts in seconds from the response:
    /// `Date.now.addingTimeInterval(expiresIn)` is the expiration.
    public init(value: String, expiration: Date? = nil) {
        self.value = value
        self.expiration = expiration
    }

    /// The value, as it is told from others.
    package var secret: ExactString { ExactString(value) }

    /// Whether value and expiration are the same; values are compared by their bytes, as a server does.
    public static func == (first: AccessToken, second: AccessToken) -> Bool {
        first.secret == second.secret && first.expiration == second.expiration
    }
}

extension AccessToken: Separable {
    @usableFromInline package var separated: AccessToken {
        AccessToken(value: String(decoding: value.utf8, as: UTF8.self), expiration: expiration)
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The expiration, and never the value; debuggers and test failures show it as well.
    public var description: String {
        guard let expiration = printableExpiration else { return "AccessToken(value: <hidden>)" }
        return "AccessToken(value: <hidden>, expiration: \(expiration))"
    }

    /// A mirror without the value: `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["expiration": printableExpiration as Any], displayStyle: .struct)
    }

    /// The expiration, or its seconds since 2001 if it is too far away: on Linux `Date` traps when it is to describe
    /// what is no date, and a log line about a server's nonsense must not.
    private var printableExpiration: Any? {
        guard let expiration else { return nil }
        let seconds = expiration.timeIntervalSinceReferenceDate
        return abs(seconds) <= Date.distantFuture.timeIntervalSinceReferenceDate ? expiration : seconds
    }
}
