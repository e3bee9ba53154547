public import Foundation

/// A reply of the token endpoint, for ``TokenEndpoint/replyMapping`` and ``TokenEndpoint/failureMapping``.
///
/// It prints no body and no header field: a server may repeat a secret there.
public struct TokenEndpointReply: Sendable {
    /// The status of the HTTP response.
    public let status: Int

    /// The body, at most a megabyte.
    public let body: Data

    /// When the reply came, by the endpoint's clock: a lifetime counts from here.
    public let received: Date

    /// By their names in lower case.
    private let headers: [String: String]

    /// Creates a reply, to test a mapping with.
    public init(status: Int, headers: [String: String] = [:], body: Data, received: Date = .now) {
        self.status = status
        self.body = body
        self.received = received
        // Two spellings of one name are one field with a comma (RFC 9110, section 5.3).
        let fields = headers.map { ($0.key.lowercased(), $0.value) }
        self.headers = Dictionary(fields) { "\($0), \($1)" }
    }

    /// A field of the head, by its name in any case.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }

    /// Seconds for which `Retry-After` asks (RFC 9110, section 10.2.3), at most a day; `nil` if there is none.
    ///
    /// A date there is one of the server's clock, which the field `Date` tells, or else of the endpoint's clock.
    public var retryAfter: TimeInterval? { seconds(until: header("Retry-After")) }

    /// The body as text, without white space at either end.
    public var text: String {
        String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The members of the body's JSON object, or of its form; text as it is, anything else as its JSON.
    ///
    /// Empty if the body is neither. A member that is `null` is left out.
    public var members: [String: String] { JSONMembers(reading: body)?.texts ?? [:] }

    /// The members of an object inside of the body's object, read as ``members``; empty if there is none of that name.
    public func members(of name: String) -> [String: String] {
        guard case .structure(let json) = JSONMembers(of: body)?[name] else { return [:] }
        return JSONMembers(of: Data(json.utf8))?.texts ?? [:]
    }
}

extension TokenEndpointReply {
    /// When the reply was sent, by the server's clock; `nil` if the reply does not say (RFC 9110, section 6.6.1).
    ///
    /// What a server says of time is compared with this: the clock of this machine may be wrong by years.
    var sent: Date? { header("Date").flatMap(RetryAfter.date) }

    /// The present by the server's clock, or by this machine's where the reply does not say.
    var moment: Date { sent ?? received }

    /// Seconds for which a text asks, in any form that `Retry-After` may have.
    func seconds(until text: String?) -> TimeInterval? { RetryAfter.seconds(text, at: moment) }

    /// How many bytes of the beginning say whether the body is a page.
    private static let beginning = 1000

    /// Whether the body is a page of HTML, which no token endpoint sends: a proxy, a firewall or a network has
    /// answered.
    ///
    /// The field `Content-Type` is not enough: many servers call everything HTML.
    var isHTML: Bool {
        let text = TokenTraces.letters(of: body.prefix(Self.beginning)).lowercased()
        guard text.hasPrefix("<") else { return false }
        let type = header("Content-Type")?.lowercased() ?? ""
        return ["<!doctype html", "<html"].contains { text.contains($0) } || type.contains("html")
    }
}

extension JSONMembers {
    /// Every member but those that are `null`: text as it is, anything else as its JSON.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        for name in names { texts[name] = self[name]?.shown }
        return texts
    }
}

extension JSONMembers.Value {
    /// Text as it is, anything else as its JSON; `nil` for `null`.
    var shown: String? {
        switch self {
        case .null: nil
        case .flag(let flag): "\(flag)"
        case .text(let text), .number(let text), .structure(let text): text
        }
    }
}

extension TokenEndpointReply: CustomStringConvertible, CustomReflectable {
    /// The status, and how long the body is.
    public var description: String { "TokenEndpointReply(\(status), \(body.count) bytes)" }

    /// A mirror without the head and the body: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["status": status], displayStyle: .struct) }
}
