import Foundation

/// Where a URL leads: scheme, host and port (RFC 6454, section 4).
struct WebOrigin: Hashable, Sendable {
    let scheme: String
    /// An IPv6 address has no brackets.
    let host: String
    let port: Int

    /// `nil` for what is not HTTP, and for a URL that names a user: what one parser takes for the user is the host to
    /// another.
    init?(of url: URL, ignoringUser: Bool = false) {
        let ports = ["http": 80, "https": 443]
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), let usualPort = ports[scheme], ignoringUser || parts.user == nil,
            let host = Self.host(of: parts)?.lowercased().trimmingCharacters(in: ["[", "]"]), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = parts.port ?? usualPort
    }

    /// An international name as it is looked up, in ASCII (`xn--…`); a URL may have it in either form.
    private static func host(of parts: URLComponents) -> String? {
        guard let host = parts.percentEncodedHost, host.contains("%") else { return parts.percentEncodedHost }
        // Nothing else is decoded: a name that needs it is none that a server has.
        guard let name = parts.host, name.contains("xn--") else { return host }
        return name
    }

    /// Whether no machine on the way can read what goes there: it is `https`, or does not leave this machine.
    var isProtected: Bool { scheme == "https" || isLoopback }

    private var isLoopback: Bool {
        let isIPv4 = host.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        return host == "localhost" || host == "::1" || (isIPv4 && host.hasPrefix("127."))
    }
}

extension WebOrigin: CustomStringConvertible {
    var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
