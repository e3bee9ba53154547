/// Encodes parameters as `application/x-www-form-urlencoded` (RFC 6749, appendix B).
///
/// By hand: `URLComponents` leaves `+` as it is, which a server reads as a space, and tokens are full of them.
enum FormEncoding {
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// A parameter without a value is left out, since it counts as absent (RFC 6749, section 3.2).
    static func body(_ parameters: [FormParameter]) -> String {
        parameters.filter { !$0.value.isEmpty }
            .map { encoded($0.name) + "=" + encoded($0.value) }
            .joined(separator: "&")
    }

    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else if byte == UInt8(ascii: " ") {
                result += "+"
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
        return result
    }
}

/// A parameter of a request; a secret one never appears in an error, even if the server repeats it.
struct FormParameter: Hashable, Sendable {
    let name: String
    let value: String
    let isSecret: Bool

    init(_ name: String, _ value: String, isSecret: Bool = false) {
        self.name = name
        self.value = value
        self.isSecret = isSecret
    }
}
