import Foundation

extension JSONMembers {
    /// The members of a reply: those of its JSON object, or of a form.
    ///
    /// GitHub answers with a form if the request does not ask for JSON, and so do servers that are older than RFC 6749.
    init?(reading body: Data) {
        if let members = JSONMembers(of: body) { self = members } else { self.init(ofForm: body) }
    }

    /// `nil` for what is no form of a token endpoint: any text with an equals sign could be one.
    private init?(ofForm body: Data) {
        guard body.count <= Self.longestForm, let text = String(data: body, encoding: .utf8) else { return nil }
        let ends = CharacterSet.whitespacesAndNewlines.union(CharacterSet(charactersIn: "\0"))
        let pairs = text.trimmingCharacters(in: ends).split(separator: "&").map { pair in
            pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.decoded)
        }
        var members: [String: String] = [:]
        for pair in pairs {
            guard pair.count == 2, let name = pair[0], let value = pair[1], Self.isName(name) else { return nil }
            members[name] = value
        }
        guard !Self.telling.isDisjoint(with: members.keys) else { return nil }
        self.init(ofTexts: members)
    }

    /// A token of 64 KiB is longer than any header field takes.
    private static let longestForm = 1 << 17

    /// One of these makes a text the form of a reply.
    private static let telling: Set = ["access_token", "error", "device_code"]

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(FormEncoding.unreserved.contains)
    }

    private static func decoded(_ text: Substring) -> String? {
        guard !text.contains(where: { $0.isWhitespace || $0 == "<" || $0 == "{" }) else { return nil }
        return text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
