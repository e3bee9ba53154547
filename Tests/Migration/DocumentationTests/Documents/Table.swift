/// The rows of the first table of a document that has this header, without the header itself.
func tableRows(under header: String, in document: String) throws -> [String] {
    try Repository.text(of: document).lines
        .drop { $0 != header }
        .dropFirst(2)
        .prefix { $0.hasPrefix("|") }
        .map { $0 }
}
