import Foundation

/// The members of a JSON object, each value as it stands.
///
/// Foundation's decoders refuse a whole object for one member that is nested too deeply, and give numbers back in other
/// digits than the server's. Here nothing is read before it is asked for. Of members with the same name the last one
/// counts that is neither `null` nor empty text: a refresh token that is there must not be lost.
struct JSONMembers {
    /// A value; text and words are read, a number or a structure is its JSON.
    enum Value: Hashable {
        case null
        case flag(Bool)
        case text(String)
        case number(String)
        case structure(String)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private var values: [String: ArraySlice<UInt8>] = [:]

    /// Members that are text.
    init(ofTexts texts: [String: String]) {
        values = texts.compactMapValues { text in
            // The brackets go: older systems encode no text by itself.
            (try? JSONEncoder().encode([text])).map { ArraySlice($0.dropFirst().dropLast()) }
        }
    }

    /// `nil` if the body is anything but one whole object.
    init?(of body: Data) {
        var rest = Self.utf8(body)[...]
        Self.skipSpace(&rest)
        guard rest.popFirst() == UInt8(ascii: "{") else { return nil }
        Self.skipSpace(&rest)
        var isOver = rest.first == UInt8(ascii: "}")
        if isOver { rest = rest.dropFirst() }
        while !isOver {
            guard rest.first == Self.quote, let literal = Self.takeText(&rest) else { return nil }
            Self.skipSpace(&rest)
            guard rest.popFirst() == UInt8(ascii: ":"), let value = Self.takeValue(&rest) else { return nil }
            // A name that cannot be read is none that anybody asks for, and costs no session.
            if let name = Self.text(of: literal), values[name] == nil || !Self.isNothing(value) { values[name] = value }
            switch rest.popFirst() {
            case UInt8(ascii: ","):
                Self.skipSpace(&rest)
                // A comma behind the last member is no JSON, and costs no session.
                guard rest.first == UInt8(ascii: "}") else { break }
                rest = rest.dropFirst()
                isOver = true
            case UInt8(ascii: "}"): isOver = true
            default: return nil
            }
        }
        // A program in C may send the zero at the end of its text along.
        guard rest.allSatisfy({ Self.spaces.contains($0) || $0 == 0 }) else { return nil }
    }

    private static let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private static func isNothing(_ value: ArraySlice<UInt8>) -> Bool {
        value.elementsEqual("null".utf8) || value.elementsEqual(#""""#.utf8)
    }

    var names: Dictionary<String, ArraySlice<UInt8>>.Keys { values.keys }

    /// The value of a member; `nil` if there is none, or none that is JSON.
    subscript(name: String) -> Value? { values[name].flatMap { Self.value(of: $0) } }

    /// The texts of a member that is a text or a list of them; `nil` if there is no such member.
    func texts(_ name: String) -> [String]? {
        switch self[name] {
        case nil, .null: nil
        case .text(let one): [one]
        case .structure(let json):
            Self.elements(of: json).compactMap { if case .text(let one) = $0 { one } else { nil } }
        default: []
        }
    }

    /// The values of a list, in their order; empty for what is no whole list.
    static func elements(of json: String) -> [Value] {
        var rest = Array(json.utf8)[...]
        guard rest.popFirst() == UInt8(ascii: "[") else { return [] }
        // The end of a list is read as that of an object, whose values the rest of this type takes.
        guard rest.popLast() == UInt8(ascii: "]") else { return [] }
        rest += [UInt8(ascii: "}")]
        var elements: [Value] = []
        while let value = takeValue(&rest) {
            elements += [Self.value(of: value)].compactMap(\.self)
            guard rest.popFirst() == UInt8(ascii: ",") else { break }
        }
        return elements
    }

    /// Whether a member at any depth of an object has such a name, and a value that is more than nothing.
    static func hasMember(in body: Data, named isWanted: (String) -> Bool) -> Bool {
        var rest = utf8(body)[...]
        while let quoted = rest.firstIndex(of: quote) {
            rest = rest[quoted...]
            guard let literal = takeText(&rest) else { return false }
            skipSpace(&rest)
            guard rest.first == UInt8(ascii: ":"), let name = text(of: literal), isWanted(name) else { continue }
            rest = rest.dropFirst()
            skipSpace(&rest)
            if !rest.starts(with: "\"\"".utf8), "\"{[-0123456789".utf8.contains(rest.first ?? 0) { return true }
        }
        return false
    }

    private static func value(of value: ArraySlice<UInt8>) -> Value? {
        guard let first = value.first else { return nil }
        let json = String(decoding: value, as: UTF8.self)
        switch first {
        case quote: return text(of: value).map { .text($0) }
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .structure(json)
        default: break
        }
        switch json {
        case "null": return .null
        case "true": return .flag(true)
        case "false": return .flag(false)
        default:
            let isNumber = json.utf8.allSatisfy("0123456789+-.eE".utf8.contains) && Double(json) != nil
            return isNumber ? .number(json) : nil
        }
    }

    /// The body in UTF-8 and without a byte order mark: decoders take the mark, and other encodings of Unicode.
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

    private static func text(of literal: ArraySlice<UInt8>) -> String? {
        guard literal.contains(backslash) else {
            return String(bytes: literal.dropFirst().dropLast(), encoding: .utf8)
        }
        return try? JSONDecoder().decode([String].self, from: Data([UInt8(ascii: "[")] + literal + [UInt8(ascii: "]")]))
            .first
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.first, spaces.contains(byte) { rest = rest.dropFirst() }
    }

    /// The literal at the beginning, with its quotes; `nil` if it does not end.
    private static func takeText(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let whole = rest
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == quote { return whole[..<rest.startIndex] }
            if byte == backslash { rest = rest.dropFirst() }
        }
        return nil
    }

    /// The value up to the comma or brace that follows it, however deep it is; `nil` if its brackets do not match.
    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        skipSpace(&rest)
        if rest.first == quote {
            guard let literal = takeText(&rest) else { return nil }
            skipSpace(&rest)
            // Two texts in a row, or with something else than a comma between them, are no value.
            return rest.first == UInt8(ascii: ",") || rest.first == UInt8(ascii: "}") ? literal : nil
        }
        let whole = rest
        var closers: [UInt8] = []
        while let byte = rest.first {
            switch byte {
            case quote:
                guard takeText(&rest) != nil else { return nil }
                continue
            case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
            case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
            case UInt8(ascii: ",") where closers.isEmpty, UInt8(ascii: "}") where closers.isEmpty:
                let value = trimmed(whole[..<rest.startIndex])
                return value.isEmpty ? nil : value
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard closers.popLast() == byte else { return nil }
            default: break
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value
        while let byte = value.last, spaces.contains(byte) { value.removeLast() }
        return value
    }
}
