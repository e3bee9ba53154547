import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a session is allowed to do with a token.
struct BearerRules: Sendable {
    let origins: Set<WebOrigin>
    let allowsInsecureHTTP: Bool
    /// An `Authorization` field in the session's configuration would go wherever a redirect leads.
    let hasOwnAuthorization: Bool

    init(origins: [URL], allowsInsecureHTTP: Bool = false, configuration: URLSessionConfiguration) {
        self.origins = Set(origins.compactMap { WebOrigin(of: $0, ignoringUser: true) })
        self.allowsInsecureHTTP = allowsInsecureHTTP
        hasOwnAuthorization = (configuration.httpAdditionalHeaders ?? [:]).keys.contains { name in
            (name as? String)?.lowercased() == "authorization"
        }
    }

    /// Why a request must not be sent with a token; `nil` if it may.
    func refusal(of request: URLRequest) -> BearerSessionError? {
        guard !hasOwnAuthorization, request.value(forHTTPHeaderField: "Authorization") == nil, let url = request.url,
            url.user == nil
        else { return .authorizationAlreadySet }
        guard let origin = WebOrigin(of: url), origins.contains(origin) else {
            return .originNotAllowed(WebOrigin(of: url)?.description ?? "\(url.scheme ?? "no scheme"):")
        }
        guard allowsInsecureHTTP || origin.isProtected else { return .insecureOrigin("\(origin)") }
        return nil
    }

    /// Visible ASCII: wider than RFC 6750 has it, since servers are, and as much as a field can carry.
    func canSend(_ token: AccessToken) -> Bool {
        !token.value.isEmpty && token.value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Where a URL leads: scheme, host and port (RFC 6454, section 4).
struct WebOrigin: Hashable, Sendable {
    let scheme: String
    /// An IPv6 address has no brackets.
    let host: String
    let port: Int

    /// `nil` for what is not HTTP, and for a URL that names a user: what one parser takes for the user is the host to
    /// another.
    init?(of url: URL, ignoringUser: Bool = false) {
        let url = url.absoluteURL
        let ports = ["http": 80, "https": 443]
        guard let scheme = url.scheme?.lowercased(), let usualPort = ports[scheme], ignoringUser || url.user == nil,
            let host = Self.host(of: url)?.lowercased().trimmingCharacters(in: ["[", "]"]), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = url.port ?? usualPort
    }

    /// An international name as it is looked up, in ASCII (`xn--…`); a URL may have it in either form.
    private static func host(of url: URL) -> String? {
        guard let host = url.host(), host.contains("%") else { return url.host() }
        // Nothing else is decoded: a name that needs it is none that a server has.
        guard let name = url.host(percentEncoded: false), name.contains("xn--") else { return host }
        return name
    }

    /// Whether nobody on the way can read what goes there: it is `https`, or does not leave this machine.
    var isProtected: Bool { scheme == "https" || isLoopback }

    private var isLoopback: Bool {
        let isIPv4 = host.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        return host == "localhost" || host == "::1" || (isIPv4 && host.hasPrefix("127."))
    }
}

extension BearerRules: CustomStringConvertible {
    var description: String { origins.map(\.description).sorted().joined(separator: ", ") }
}

extension WebOrigin: CustomStringConvertible {
    var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
