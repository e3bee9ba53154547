import Testing

/// A fenced block of a Markdown document.
struct CodeBlock: Sendable {
    let document: String
    /// The line of the opening fence, counted from 1.
    let line: Int
    let language: String
    let lines: [String]

    var place: String { "\(document):\(line)" }

    /// All blocks of a document, in their order.
    static func all(in document: String) throws -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (line: Int, language: String, lines: [String])?
        for (index, line) in try Repository.text(of: document).lines.enumerated() {
            if let block = open, line == "```" {
                blocks.append(
                    CodeBlock(document: document, line: block.line, language: block.language, lines: block.lines)
                )
                open = nil
            } else if let block = open {
                try #require(!line.hasPrefix("```"), "\(document):\(block.line) is not closed")
                open?.lines.append(line)
            } else if line.hasPrefix("```") {
                open = (index + 1, String(line.dropFirst(3)), [])
            }
        }
        try #require(open == nil, "\(document) ends inside a block")
        return blocks
    }
}

extension String {
    /// The lines, without an empty one for a line break at the end.
    var lines: [String] {
        var lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
