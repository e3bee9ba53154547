import Foundation

/// One request as it came over the wire.
package struct HTTPRequest: Hashable, Sendable {
    /// Method, target and version.
    package let line: String
    package let method: String
    /// The target without its query.
    package let path: String
    /// What comes after the question mark; `nil` without one.
    package let query: String?
    /// Field names in lower case; a field that came twice has both values.
    package let fields: [String: [String]]
    package var body: [UInt8] = []

    /// The value of a field that came exactly once.
    package subscript(field name: String) -> String? {
        guard let values = fields[name], values.count == 1 else { return nil }
        return values[0]
    }
}

/// The fields of an `application/x-www-form-urlencoded` body (RFC 6749, appendix B).
package struct FormFields: Hashable {
    private var values: [String: String] = [:]

    /// Fails for another media type, for a broken escape, for text that is not UTF-8, and for a field that comes twice:
    /// RFC 6749, section 3.2, allows none of them.
    package init?(_ request: HTTPRequest) {
        let type = request[field: "content-type"]?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/x-www-form-urlencoded" else { return nil }
        self.init(request.body)
    }

    /// The parameters of a query, as strict as those of a form.
    package init?(query: String?) {
        self.init(Array((query ?? "").utf8))
    }

    private init?(_ bytes: [UInt8]) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]),
                let value = parts.count == 2 ? Self.decoded(parts[1]) : "",
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// A field without a value counts as absent.
    package subscript(name: String) -> String? {
        guard let value = values[name], !value.isEmpty else { return nil }
        return value
    }

    package static func decoded(_ text: some Sequence<UInt8>) -> String? {
        String(bytes: text, encoding: .utf8)?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
