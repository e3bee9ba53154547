import Foundation

/// An HTTP response as `curl -i` prints it.
struct RawReply {
    let status: Int
    /// By their names as they stand.
    let fields: [(name: String, value: String)]
    let body: String

    /// `nil` if the first line is none of a response.
    init?(_ bytes: Data) {
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
        var rest = text[...]
        var head: [Substring] = []
        // Interim responses, and that of a proxy which connects, come before the one that counts.
        repeat {
            head = rest.prefix(upTo: rest.range(of: "\n\n")?.lowerBound ?? rest.endIndex)
                .split(separator: "\n", omittingEmptySubsequences: true)
            rest = rest.range(of: "\n\n").map { rest[$0.upperBound...] } ?? ""
        } while Self.status(of: head.first).map { $0 < 200 || rest.hasPrefix("HTTP/") } == true
        guard let status = Self.status(of: head.first) else { return nil }
        self.status = status
        fields = head.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
        }
        body = rest.trimmingCharacters(in: .newlines)
    }

    private static func status(of line: Substring?) -> Int? {
        let words = (line ?? "").split(separator: " ")
        guard let version = words.first, version.hasPrefix("HTTP/"), words.count > 1 else { return nil }
        return Int(words[1]).flatMap { (100...999).contains($0) ? $0 : nil }
    }
}
