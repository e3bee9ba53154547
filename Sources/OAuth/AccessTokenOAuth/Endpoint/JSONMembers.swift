import Foundation

/// Takes the members of a JSON object apart without reading their values.
///
/// A decoder would have to be told the type of each value, and would give numbers back in other words than the server's.
enum JSONMembers {
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// The members of an object: text as it is, anything else as its JSON, and none that is `null`.
    ///
    /// - Parameters:
    ///   - body: JSON that a decoder has found to be valid. Of anything else some members may be missing.
    ///   - isKnown: says which members are left out.
    static func text(of body: Data, unless isKnown: (String) -> Bool) -> [String: String] {
        var members: [String: String] = [:]
        var rest = utf8(body)[...]
        skipSpace(&rest)
        guard rest.popFirst() == UInt8(ascii: "{") else { return [:] }
        while true {
            skipSpace(&rest)
            guard rest.first == quote else { return members }
            let name = text(inQuotes: takeText(&rest))
            skipSpace(&rest)
            guard rest.popFirst() == UInt8(ascii: ":") else { return members }
            skipSpace(&rest)
            let value = takeValue(&rest)
            if let name, !isKnown(name) { members[name] = text(of: value) }
            skipSpace(&rest)
            guard rest.popFirst() == UInt8(ascii: ",") else { return members }
        }
    }

    /// The body in UTF-8 and without a byte order mark: the decoder takes both, and other encodings of Unicode.
    private static func utf8(_ body: Data) -> [UInt8] {
        let encoding = encoding(of: body)
        let bytes = encoding == .utf8 ? Array(body) : Array((String(data: body, encoding: encoding) ?? "").utf8)
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// JSON begins with a byte order mark or an ASCII character, which tells where the zeros of each unit are.
    private static func encoding(of body: Data) -> String.Encoding {
        let start = Array(body.prefix(4))
        guard start.count == 4 else { return .utf8 }
        return switch (start[0], start[1], start[2], start[3]) {
        case (0, 0, 0xFE, 0xFF), (0, 0, 0, _): .utf32BigEndian
        case (0xFF, 0xFE, 0, 0), (_, 0, 0, 0): .utf32LittleEndian
        case (0xFE, 0xFF, _, _), (0, _, _, _): .utf16BigEndian
        case (0xFF, 0xFE, _, _), (_, 0, _, _): .utf16LittleEndian
        default: .utf8
        }
    }

    private static func text(of value: ArraySlice<UInt8>) -> String? {
        if value.first == quote { return text(inQuotes: value) }
        let json = String(decoding: value, as: UTF8.self)
        return json == "null" ? nil : json
    }

    private static func text(inQuotes literal: ArraySlice<UInt8>) -> String? {
        guard literal.contains(backslash) else {
            return String(validating: literal.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(literal))
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.first, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { rest = rest.dropFirst() }
    }

    /// The literal at the beginning, with its quotes.
    private static func takeText(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let whole = rest
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != quote {
            if byte == backslash { rest = rest.dropFirst() }
        }
        return whole[..<rest.startIndex]
    }

    /// The value at the beginning: up to the comma or brace that ends it, however deep it is.
    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let whole = rest
        var depth = 0
        while let byte = rest.first {
            switch byte {
            case quote:
                _ = takeText(&rest)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return trimmed(whole[..<rest.startIndex]) }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                return trimmed(whole[..<rest.startIndex])
            default: break
            }
            rest = rest.dropFirst()
        }
        return trimmed(whole)
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value
        while let byte = value.last, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { value.removeLast() }
        return value
    }
}
