import Foundation

/// Hides in a server's words what was sent to that server.
struct SentSecrets {
    private static let codeCharacters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.".utf8)
    private static let longestCode = 64
    private static let longestText = 200

    private let secrets: [String]

    init(_ secrets: [String]) { self.secrets = secrets }

    /// An error code, which errors print and which has nothing of what was sent in it; `nil` for what cannot be a code.
    func code(_ text: String) -> String? {
        // Everybody knows these words: a secret that one of them contains is not given away by it.
        guard !ReplyWord.isKnown(text) else { return text }
        return Self.isCode(text) ? hidingEcho(in: text) : nil
    }

    /// Whether a text has the characters of a code, and is no longer than one.
    static func isCode(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestCode && text.utf8.allSatisfy(codeCharacters.contains)
    }

    /// The type of a token, which may have spaces and colons; `nil` for what cannot be one.
    func type(_ text: String) -> String? {
        guard text.utf8.count <= Self.longestCode, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        return hidingEcho(in: text)
    }

    private func hidingEcho(in text: String) -> String {
        let shown = text.lowercased()
        let isEcho = secrets.contains { secret in
            guard secret.utf8.count > 3 else { return shown == secret.lowercased() }
            // A long secret may be repeated in part.
            return Self.spellings(of: secret).map { $0.lowercased() }
                .contains { shown.contains($0) || shown.utf8.count > 8 && $0.contains(shown) }
        }
        return isEcho ? "<hidden>" : text
    }

    /// The server's explanation without what was sent, without control characters, and not too much of it.
    func readable(_ text: String) -> String {
        // First what does not show, which could stand in the middle of a secret and hide it from the search.
        var result = Self.printable(text)
        // Shorter than this, nothing is a secret, and half of every explanation would be hidden. The longest first: of
        // a token whose beginning is a secret as well, the rest would stay.
        for secret in secrets.filter({ $0.utf8.count > 3 }).sorted(by: { $0.utf8.count > $1.utf8.count }) {
            for spelling in Self.spellings(of: secret) {
                result = result.replacingOccurrences(of: spelling, with: "<hidden>")
            }
        }
        return String(String.UnicodeScalarView(result.unicodeScalars.prefix(Self.longestText)))
    }

    /// A secret as it is, in a form, in Base64 and in hexadecimal digits.
    private static func spellings(of secret: String) -> [String] {
        let base64 = String(Data(secret.utf8).base64EncodedString().prefix { $0 != "=" })
        let base64URL = base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        let hexadecimal = secret.utf8.map { FormEncoding.digits($0).lowercased() }.joined()
        return [printable(secret), FormEncoding.encoded(secret), base64, base64URL, hexadecimal].filter { !$0.isEmpty }
    }

    /// Text of others without what does not show in a log, or breaks its lines.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
