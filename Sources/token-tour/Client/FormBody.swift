import Foundation

/// Encodes fields as `application/x-www-form-urlencoded` (RFC 6749, appendix B).
///
/// By hand: `URLComponents` leaves `+` as it is, which the server reads as a space.
enum FormBody {
    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8
    )

    static func encoded(_ fields: KeyValuePairs<String, String>) -> Data {
        let pairs = fields.map { field in escaped(field.key) + "=" + escaped(field.value) }
        return Data(pairs.joined(separator: "&").utf8)
    }

    private static func escaped(_ text: String) -> String {
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
