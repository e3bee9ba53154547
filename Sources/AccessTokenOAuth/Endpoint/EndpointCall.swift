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
        isSecure = WebOrigin(of: url)?.isProtected == true
    }

    /// Sends it, each time over a connection of its own, and reads a reply of up to a megabyte.
    ///
    /// It can't be cancelled: a request that was sent may have spent its refresh token, so that its reply is the only
    /// place where the next one is.
    ///
    /// - Parameters:
    ///   - idleLimit: seconds without a byte after which the exchange fails.
    ///   - handler: called once, on any thread.
    func send(idleLimit: TimeInterval, then handler: @escaping @Sendable (Result<EndpointReply, OAuthError>) -> Void) {
        EndpointReply.reply(to: request, idleLimit: idleLimit, then: handler)
    }
}
