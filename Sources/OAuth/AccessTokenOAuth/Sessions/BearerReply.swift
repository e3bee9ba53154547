public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A reply to a request that was sent with a token, for the `isRejected` of a session.
///
/// It prints no body and no header field.
public struct BearerReply: Sendable {
    /// The response, whatever its status.
    public let response: HTTPURLResponse

    /// The body; empty if it is longer than the session's limit.
    public let body: Data

    /// The status of the response.
    public var status: Int { response.statusCode }

    /// The `error` of the `Bearer` or `DPoP` challenge (RFC 6750, section 3; RFC 9449, section 7.1), such as
    /// `invalid_token`; without a challenge, that of the body's JSON object.
    public var error: String? {
        let challenges = response.value(forHTTPHeaderField: "WWW-Authenticate").map(BearerChallenge.errors)
        return challenges?.first ?? JSONMembers(of: body)?["error"]?.shown
    }

    /// Creates a reply, to test a closure with.
    public init(_ response: HTTPURLResponse, body: Data = Data()) {
        self.response = response
        self.body = body
    }

    /// What the reply says of a proof of possession (RFC 9449).
    func aboutProof(at now: Date) -> ProofReply {
        ProofReply(status: status, body: body, at: now) { response.value(forHTTPHeaderField: $0) }
    }

    /// Whether the token is valid, and the resource wants another scope (RFC 6750, section 3.1) or another login
    /// (RFC 9470, section 3): the next token is no better.
    var tokenIsInsufficient: Bool {
        switch error {
        case "insufficient_scope": status != 401
        case "insufficient_user_authentication": true
        default: false
        }
    }
}

extension BearerReply: CustomStringConvertible, CustomReflectable {
    /// The status, and how long the body is.
    public var description: String { "BearerReply(\(status), \(body.count) bytes)" }

    /// A mirror without the head and the body: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["status": status], displayStyle: .struct) }
}

/// Reads the challenges of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
enum BearerChallenge {
    private static let schemes: Set = ["bearer", "dpop"]

    /// The `error` of each `Bearer` or `DPoP` challenge that has one.
    ///
    /// Not by the scheme that was sent: some servers say in a `Bearer` challenge what they have against a proof.
    static func errors(in field: String) -> [String] {
        var (scheme, errors) = ("", [String]())
        for part in parts(of: field) {
            // A part is a scheme, a scheme with its first parameter, or one more parameter.
            let head = part.prefix { $0 != "=" && $0 != "\"" }.split(whereSeparator: \.isWhitespace)
            if head.count > 1 || !part.contains("=") { scheme = head.first.map { $0.lowercased() } ?? "" }
            guard schemes.contains(scheme), head.last?.lowercased() == "error", let sign = part.firstIndex(of: "=")
            else {
                continue
            }
            let value = part[part.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            errors.append(value.hasPrefix("\"") ? String(value.dropFirst().prefix { $0 != "\"" }) : value)
        }
        return errors
    }

    /// What stands between the commas that are in no quotation.
    private static func parts(of field: String) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in field {
            if character == ",", !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
