/// The token endpoint answered, and brought no access token.
enum TokenEndpointError: Error, Hashable, CustomStringConvertible {
    /// It refused, with this code of RFC 6749, section 5.2.
    case refused(String)
    /// Its reply was no reply of a token endpoint.
    case malformed(status: Int)

    var description: String {
        switch self {
        case .refused(let code): code
        case .malformed(let status): "malformed reply (\(status))"
        }
    }
}
