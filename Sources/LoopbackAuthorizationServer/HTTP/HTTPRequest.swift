/// One request as it came over the wire.
struct HTTPRequest: Hashable, Sendable {
    let method: String
    /// The target without its query.
    let path: String
    /// Field names in lower case; a field that came twice has both values.
    let fields: [String: [String]]
    let body: [UInt8]

    /// The value of a field that came exactly once.
    subscript(field name: String) -> String? {
        guard let values = fields[name], values.count == 1 else { return nil }
        return values[0]
    }
}
