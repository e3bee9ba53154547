import Foundation

/// One request as it came over the wire.
struct HTTPRequest: Hashable, Sendable {
    /// Method, target and version.
    let line: String
    let method: String
    /// The target without its query.
    let path: String
    /// Field names in lower case; a field that came twice has both values.
    let fields: [String: [String]]
    var body: [UInt8] = []

    /// The value of a field that came exactly once.
    subscript(field name: String) -> String? {
        guard let values = fields[name], values.count == 1 else { return nil }
        return values[0]
    }
}

/// The fields of an `application/x-www-form-urlencoded` body (RFC 6749, appendix B).
struct FormFields: Hashable {
    private var values: [String: String] = [:]

    /// Fails for another media type, for a broken escape, for text that is not UTF-8, and for a field that comes twice: RFC
    /// 6749, section 3.2, allows none of them.
    init?(_ request: HTTPRequest) {
        let type = request[field: "content-type"]?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/x-www-form-urlencoded" else { return nil }
        for pair in request.body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]),
                let value = parts.count == 2 ? Self.decoded(parts[1]) : "",
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// A field without a value counts as absent.
    subscript(name: String) -> String? {
        guard let value = values[name], !value.isEmpty else { return nil }
        return value
    }

    static func decoded(_ text: some Sequence<UInt8>) -> String? {
        String(bytes: text, encoding: .utf8)?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}

/// Puts a request together from the bytes of a connection, in whatever pieces they come.
///
/// Pure: any garbage can be thrown at it. It is strict: what it does not know is malformed.
struct HTTPRequestReader {
    /// What the bytes so far amount to.
    enum Progress: Hashable {
        case incomplete
        case complete(HTTPRequest)
        case malformed
    }

    private static let headLimit = 16 * 1024
    private static let bodyLimit = 64 * 1024
    private static let separators = Set("\t \"(),/:;<=>?@[\\]{}")

    private var bytes: [UInt8] = []

    mutating func append(_ more: [UInt8]) -> Progress {
        bytes += more
        guard let end = endOfHead() else { return bytes.count > Self.headLimit ? .malformed : .incomplete }
        guard end <= Self.headLimit, var request = Self.request(fromHead: bytes[..<end]),
            let length = Self.bodyLength(of: request)
        else { return .malformed }
        let body = bytes[(end + 4)...]
        guard body.count >= length else { return .incomplete }
        request.body = Array(body.prefix(length))
        return .complete(request)
    }

    private func endOfHead() -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { start in
            bytes[start..<start + 4].elementsEqual([13, 10, 13, 10])
        }
    }

    /// `nil` is a length that the server does not accept, or a body without one.
    private static func bodyLength(of request: HTTPRequest) -> Int? {
        guard request.fields["transfer-encoding"] == nil else { return nil }
        guard request.fields["content-length"] != nil else { return 0 }
        guard let text = request[field: "content-length"], text.allSatisfy(\.isNumber),
            let length = Int(text), length <= bodyLimit
        else { return nil }
        return length
    }

    private static func request(fromHead head: ArraySlice<UInt8>) -> HTTPRequest? {
        var lines: [String] = []
        for line in head.split(separator: 10, omittingEmptySubsequences: false) {
            // The last line's CR belongs to the empty line that ends the head.
            let text = line.last == 13 ? line.dropLast() : line
            guard text.allSatisfy({ $0 == 9 || (32...126).contains($0) }) else { return nil }
            lines.append(String(decoding: text, as: UTF8.self))
        }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, isToken(words[0]), words[1].hasPrefix("/"),
            words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0"
        else { return nil }

        var fields: [String: [String]] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]) else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields[line[..<colon].lowercased(), default: []].append(value)
        }
        let path = words[1].prefix { $0 != "?" }
        return HTTPRequest(line: first, method: String(words[0]), path: String(path), fields: fields)
    }

    /// Of the characters that a head may have at all (RFC 9110, section 5.6.2).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && !text.contains(where: separators.contains)
    }
}

/// One answer, after which the connection closes; it must not be stored (RFC 6749, section 5.1).
struct HTTPResponse: Hashable, Sendable {
    /// How much of the answer reaches the client, and when.
    enum Delivery: Hashable, Sendable {
        case whole
        case late(by: TimeInterval)
        case half
        case none
        case never
    }

    let status: Int
    let json: String
    var challenge: String?
    var retryAfter: Int?
    var delivery = Delivery.whole

    /// What RFC 6749, section 5.2, calls an error response.
    static func failure(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(status: status, json: #"{"error":"\#(code)"}"#)
    }

    /// The answer as it is sent, without a reason phrase, which no client reads.
    var bytes: [UInt8] {
        var head = [
            "HTTP/1.1 \(status) ",
            "Content-Type: application/json",
            "Content-Length: \(json.utf8.count)",
            "Cache-Control: no-store",
            "Connection: close",
        ]
        if let challenge { head.append("WWW-Authenticate: \(challenge)") }
        if let retryAfter { head.append("Retry-After: \(retryAfter)") }
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + json).utf8)
    }
}
