import Foundation

/// What the report says of the server, and never a secret.
enum ServerNote: Sendable {
    case builtIn
    /// The endpoint's address, how often an access token came, and how often another refresh token came with it.
    case user(address: String, exchanges: Int, rotations: Int)

    static func user(_ endpoint: URL, _ credentials: [HeldCredential]) -> ServerNote {
        let port = endpoint.port.map { ":\($0)" } ?? ""
        return .user(
            address: "\(endpoint.scheme ?? "https")://\(endpoint.host() ?? "")\(port)\(endpoint.path())",
            exchanges: credentials.map(\.exchanges).reduce(0, +),
            rotations: credentials.map(\.rotations).reduce(0, +)
        )
    }

    /// Whether the refresh token that was there at first is spent.
    var showsRotation: Bool {
        if case .user(_, _, 1...) = self { true } else { false }
    }

    var text: String {
        switch self {
        case .builtIn: "server: the built-in one, on the loopback address; --server takes one of yours"
        case .user(let address, let exchanges, 0):
            "server: \(address), no rotation seen: \(exchanges) exchanges, and the refresh token stayed the same"
        case .user(let address, let exchanges, let rotations):
            "server: \(address), rotation seen: \(exchanges) exchanges brought \(rotations) new refresh tokens"
        }
    }

    /// What stands above the number of refused refresh tokens: only the server itself knows why it refused one.
    var reuseTitle: String {
        switch self {
        case .builtIn: "reuse detected"
        case .user: "invalid_grant"
        }
    }
}
