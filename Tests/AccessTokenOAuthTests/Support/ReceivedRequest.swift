/// A request as a scripted server received it.
struct ReceivedRequest: Sendable {
    let line: String
    let fields: [String: String]
    let body: String

    init(head: String, body: String) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        line = String(lines.first ?? "")
        var fields: [String: String] = [:]
        for field in lines.dropFirst() {
            guard let colon = field.firstIndex(of: ":") else { continue }
            fields[field[..<colon].lowercased()] = field[field.index(after: colon)...].trimmingPrefix(" ").description
        }
        self.fields = fields
        self.body = body
    }
}
