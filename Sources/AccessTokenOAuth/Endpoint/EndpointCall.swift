import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to an endpoint of the authorization server, as it goes out (RFC 6749, section 3.2).
struct EndpointCall: Sendable {
    let request: URLRequest
    /// What must appear in no error.
    let secrets: [String]
    /// Whether nobody on the way can read it.
    let isSecure: Bool

    init(_ url: URL, parameters: [FormParameter], proof: ClientAuthentication.Proof) {
        let parameters = parameters + proof.parameters
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        // Base64 has no line break, with which `setValue` would do nothing and not say so.
        if let authorization = proof.authorization {
            request.setValue(authorization, forHTTPHeaderField: "Authorization")
        }
        request.httpBody = Data(FormEncoding.body(parameters).utf8)
        self.request = request
        secrets = parameters.filter(\.isSecret).map(\.value) + proof.secrets
        isSecure = url.scheme?.lowercased() == "https" || Self.isLoopback(url.host() ?? "")
    }

    private static func isLoopback(_ host: String) -> Bool {
        let isIPv4 = host.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        return host == "localhost" || host == "::1" || host == "[::1]" || (isIPv4 && host.hasPrefix("127."))
    }
}
