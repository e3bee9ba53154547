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
        self.origins = Set(origins.compactMap(WebOrigin.init))
        self.allowsInsecureHTTP = allowsInsecureHTTP
        hasOwnAuthorization = (configuration.httpAdditionalHeaders ?? [:]).keys.contains { name in
            (name as? String)?.lowercased() == "authorization"
        }
    }

    /// Why a request must not be sent with a token; `nil` if it may.
    func refusal(of request: URLRequest) -> BearerSessionError? {
        guard let url = request.url, url.user == nil, !hasOwnAuthorization,
            request.value(forHTTPHeaderField: "Authorization") == nil
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
