import Foundation

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
