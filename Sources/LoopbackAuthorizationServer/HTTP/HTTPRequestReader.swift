/// Puts a request together from the bytes of a connection, in whatever pieces they come.
///
/// Pure, so that any garbage can be thrown at it. It is strict: what it does not know is malformed.
struct HTTPRequestReader {
    /// What the bytes so far amount to.
    enum Progress: Hashable {
        case incomplete
        case complete(HTTPRequest)
        case malformed
    }

    private static let headLimit = 16 * 1024
    private static let bodyLimit = 64 * 1024
    private static let tokenCharacters = Set("!#$%&'*+-.^_`|~".utf8)

    private var bytes: [UInt8] = []
    private var head: (request: HTTPRequest, bodyStart: Int, bodyLength: Int)?

    mutating func append(_ more: [UInt8]) -> Progress {
        bytes += more
        if head == nil {
            guard let end = endOfHead() else {
                return bytes.count > Self.headLimit ? .malformed : .incomplete
            }
            guard end <= Self.headLimit, let request = Self.request(fromHead: bytes[..<end]),
                let length = Self.bodyLength(of: request)
            else { return .malformed }
            head = (request, end + 4, length)
        }
        guard let head else { return .incomplete }
        let end = head.bodyStart + head.bodyLength
        guard bytes.count >= end else { return .incomplete }
        return .complete(
            HTTPRequest(
                method: head.request.method,
                path: head.request.path,
                fields: head.request.fields,
                body: Array(bytes[head.bodyStart..<end])
            )
        )
    }

    private func endOfHead() -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { start in
            bytes[start] == 13 && bytes[start + 1] == 10 && bytes[start + 2] == 13 && bytes[start + 3] == 10
        }
    }

    /// `nil` is a length that the server does not accept, or a body without one.
    private static func bodyLength(of request: HTTPRequest) -> Int? {
        guard request.fields["transfer-encoding"] == nil else { return nil }
        guard request.fields["content-length"] != nil else { return 0 }
        guard let text = request[field: "content-length"], text.utf8.allSatisfy(isDigit),
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
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let trimmed = value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            fields[line[..<colon].lowercased(), default: []].append(String(trimmed))
        }
        let path = words[1].prefix { $0 != "?" }
        return HTTPRequest(method: String(words[0]), path: String(path), fields: fields, body: [])
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || tokenCharacters.contains(byte)
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte)
    }
}
