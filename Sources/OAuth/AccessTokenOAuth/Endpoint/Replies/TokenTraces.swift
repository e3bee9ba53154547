import Foundation

/// Whether a reply may have a token in it that nobody finds: then the refresh token that was sent may be spent.
///
/// What has no trace of a token, such as the page of a network or of a server that is being maintained, is not the
/// token endpoint's answer to the request, whatever its status (RFC 6749, section 5.1, wants a JSON object).
enum TokenTraces {
    private static let names: Set = ["accesstoken", "refreshtoken", "token"]

    /// Whether a member of an object, at any depth, has the name of a token and a value.
    static func areInMembers(of body: Data) -> Bool {
        JSONMembers.hasMember(in: body) { names.contains(JSONMembers.spelling(of: $0)) }
    }

    /// Whether what is no object may be a reply with tokens all the same: XML, JSON that stops, a list, a JSON Web
    /// Token.
    static func areInText(_ body: Data) -> Bool {
        let text = letters(of: body)
        if text.hasPrefix("{") || isWebToken(text) || isCompressed(body) { return true }
        let spelling = JSONMembers.spelling(of: text)
        return ["accesstoken", "refreshtoken"].contains { spelling.contains($0) }
    }

    /// The text of a body without a word of its encoding: each of Unicode has the same letters here, with zeros between
    /// them.
    static func letters(of body: Data) -> String {
        String(decoding: body.filter { (1...0x7F).contains($0) }, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Whether it begins with an object in Base64: a JSON Web Token (RFC 7515, section 3.1), or a whole reply.
    private static func isWebToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && !text.contains(where: \.isWhitespace)
    }

    /// Whether a proxy has lost the field that says how the body is compressed: gzip (RFC 1952), zlib (RFC 1950) or
    /// Zstandard (RFC 8878).
    private static func isCompressed(_ body: Data) -> Bool {
        let beginnings: [[UInt8]] = [
            [0x1F, 0x8B], [0x78, 0x01], [0x78, 0x5E], [0x78, 0x9C], [0x78, 0xDA], [0x28, 0xB5, 0x2F, 0xFD],
        ]
        return beginnings.contains { body.starts(with: $0) }
    }
}
