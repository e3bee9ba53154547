import Foundation

/// The members of a token endpoint's JSON that mean something (RFC 6749, sections 5.1 and 5.2).
///
/// It takes what servers really send: a number as a string, members that are `null`, empty or of another type, names in
/// another spelling (`refreshToken`), and unknown members.
struct TokenReplyMembers {
    /// What a server says with a member that should be text.
    enum Text: Hashable {
        /// Nothing: the member is missing, or is what servers write for nothing.
        case none
        case some(String)
        /// Something that is no text.
        case strange

        var value: String? { if case .some(let text) = self { text } else { nil } }
    }

    /// The members that mean something here.
    static let known: Set = [
        "access_token", "token_type", "expires_in", "refresh_token", "scope", "error", "error_description",
    ]

    /// What servers write, or let their language write, where there is nothing.
    private static let nothings: Set = ["", "null", "none", "nil", "undefined", "false", "[]", "{}"]

    /// Whether a text, or the JSON of another value, stands for nothing: no token was ever one of these.
    static func isNothing(_ text: String) -> Bool {
        Double(text) == 0 || nothings.contains(text.lowercased().filter { !$0.isWhitespace })
    }

    /// The text, unless it stands for nothing.
    static func something(_ text: String?) -> String? { text.flatMap { isNothing($0) ? nil : $0 } }

    /// Longer than any token lives, and small enough for every clock's arithmetic: a century.
    private static let longestLifetime: TimeInterval = 3_155_760_000

    let accessToken: String?
    let tokenType: String?
    /// Seconds, never negative; `nil` is good until it is rejected.
    let lifetime: TimeInterval?
    let refreshToken: Text
    let scope: String?
    let error: Text
    /// The members that have no meaning here: text as it is, anything else as its JSON.
    let others: [String: String]

    /// Whether the object has nothing in it.
    let isEmpty: Bool

    /// `nil` if the body is anything but one JSON object, or a form.
    init?(_ body: Data) {
        guard let members = JSONMembers(reading: body) else { return nil }
        self.init(members)
    }

    private init(_ members: JSONMembers) {
        let names = members.spellings(of: Self.known)
        func value(_ name: String) -> JSONMembers.Value? { members[names[name] ?? name] }
        func text(_ name: String) -> Text {
            members.names.contains(names[name] ?? name) ? Self.text(value(name)) : .none
        }
        accessToken = text("access_token").value
        tokenType = text("token_type").value
        scope = text("scope").value ?? Self.list(value("scope"))
        lifetime = Self.lifetime(value("expires_in"))
        // A number is as good as text: its digits are kept as they stand.
        if case .number(let digits) = value("refresh_token"), Double(digits)?.isFinite == true, !Self.isNothing(digits)
        {
            refreshToken = .some(digits)
        } else {
            refreshToken = text("refresh_token")
        }
        // Some servers write in every reply that there was no error.
        error = value("error")?.shown.map(ReplyTexts.isSuccess) == true ? .none : text("error")
        isEmpty = members.names.isEmpty
        let meaningful = Self.known.union(names.values)
        others = members.texts.filter { !meaningful.contains($0.key) }
    }

    static func text(_ value: JSONMembers.Value?) -> Text {
        switch value {
        case .null: .none
        case let value? where value.shown.map(isNothing) == true: .none
        case .text(let text): .some(text)
        default: .strange
        }
    }

    /// The scopes of a server that lists them, as RFC 6749, section 3.3, writes them.
    private static func list(_ value: JSONMembers.Value?) -> String? {
        guard case .structure(let json) = value else { return nil }
        let list = try? JSONDecoder().decode([String].self, from: Data(json.utf8))
        return list.flatMap { $0.isEmpty ? nil : $0.joined(separator: " ") }
    }

    static func lifetime(_ value: JSONMembers.Value?) -> TimeInterval? {
        let seconds: Double? =
            switch value {
            case .number(let digits): Double(digits)
            // Swift reads hexadecimal numbers as well; RFC 6749, appendix A.14, has decimal ones only.
            case .text(let text) where !text.contains(where: { "xX".contains($0) }):
                Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
            default: nil
            }
        // Servers write -1 for a token that does not expire. Taken as expired, it would cost an exchange for each call.
        guard let seconds, seconds.isFinite, seconds >= 0 else { return nil }
        return min(seconds, longestLifetime)
    }
}
