import Foundation

/// Puts a request together from the bytes of a connection, in whatever pieces they come.
///
/// Pure: any garbage can be thrown at it. It is strict: what it does not know is malformed.
package struct HTTPRequestReader {
    /// What the bytes so far amount to.
    package enum Progress: Hashable {
        case incomplete
        case complete(HTTPRequest)
        case malformed
    }

    /// Browsers bring the cookies of all servers of this machine along.
    private static let headLimit = 64 * 1024
    private static let bodyLimit = 64 * 1024
    private static let separators = Set("\t \"(),/:;<=>?@[\\]{}")

    private var bytes: [UInt8] = []
    /// The first place where the end of the head can still begin.
    private var searched = 0

    package init() {}

    package mutating func append(_ more: [UInt8]) -> Progress {
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

    private mutating func endOfHead() -> Int? {
        while searched + 4 <= bytes.count {
            if bytes[searched..<searched + 4].elementsEqual([13, 10, 13, 10]) { return searched }
            searched += 1
        }
        return nil
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
            // Field values may have bytes beyond ASCII (RFC 9110, section 5.5): cookies do.
            let isField = !lines.isEmpty
            guard text.allSatisfy({ $0 == 9 || (32...126).contains($0) || (isField && $0 > 127) }) else { return nil }
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
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return HTTPRequest(
            line: first,
            method: String(words[0]),
            path: target[0],
            query: target.count == 2 ? target[1] : nil,
            fields: fields
        )
    }

    /// Of the characters that a head may have at all (RFC 9110, section 5.6.2).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && !text.contains { separators.contains($0) || !$0.isASCII }
    }
}
