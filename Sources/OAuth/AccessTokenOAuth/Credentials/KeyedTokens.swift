import AccessTokenCore
import Foundation

/// The access tokens of loaders with a key; keys are told apart by their bytes.
///
/// They are written down as the members of an object. JSON coders tell the names of members apart by characters, as
/// Swift does. So a key that has other characters than those of ASCII is written as its bytes.
struct KeyedTokens: Hashable, Sendable {
    var byKey: [ExactString: KeyedAccessToken] = [:]

    var values: some Collection<KeyedAccessToken> { byKey.values }

    subscript(key: String) -> KeyedAccessToken? {
        get { byKey[ExactString(key)] }
        set { byKey[ExactString(key)] = newValue }
    }

    func filter(_ isKept: (KeyedAccessToken) -> Bool) -> KeyedTokens {
        KeyedTokens(byKey: byKey.filter { isKept($0.value) })
    }

    func moved(by seconds: TimeInterval) -> KeyedTokens {
        KeyedTokens(byKey: byKey.mapValues { $0.moved(by: seconds) })
    }
}

extension KeyedTokens: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, KeyedAccessToken)...) {
        for (key, token) in elements { self[key] = token }
    }
}

extension KeyedTokens: Codable {
    /// The name of a member, which is the key, or a mark and the key's bytes.
    private struct Name: CodingKey {
        static let mark = "utf8:"

        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        init(of key: ExactString) {
            let isPlain = key.string.utf8.allSatisfy { $0 < 0x80 } && !key.string.hasPrefix(Self.mark)
            stringValue = isPlain ? key.string : Self.mark + Data(key.string.utf8).base64EncodedString()
        }

        /// The key; earlier versions wrote each key as it is.
        var key: ExactString {
            guard stringValue.hasPrefix(Self.mark),
                let bytes = Data(base64Encoded: String(stringValue.dropFirst(Self.mark.count))),
                let key = String(data: bytes, encoding: .utf8)
            else { return ExactString(stringValue) }
            return ExactString(key)
        }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        for name in members.allKeys { byKey[name.key] = try members.decode(KeyedAccessToken.self, forKey: name) }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        for (key, token) in byKey { try members.encode(token, forKey: Name(of: key)) }
    }
}
