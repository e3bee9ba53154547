import Testing

/// A fenced block of a Markdown document.
struct CodeBlock: Sendable {
    let document: String
    /// The line of the opening fence, counted from 1.
    let line: Int
    let language: String
    private(set) var lines: [String] = []

    var place: String { "\(document):\(line)" }

    /// All blocks of a document, in their order.
    static func all(in document: String) throws -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var isOpen = false
        for (index, line) in try Repository.text(of: document).lines.enumerated() {
            if line.hasPrefix("```") {
                try #require(!isOpen || line == "```", "\(blocks[blocks.count - 1].place) is not closed")
                isOpen.toggle()
                guard isOpen else { continue }
                let language = String(line.dropFirst(3))
                blocks.append(CodeBlock(document: document, line: index + 1, language: language))
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        try #require(!isOpen, "\(document) ends inside a block")
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
