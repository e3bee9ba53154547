package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request to an endpoint of the authorization server, as it goes out (RFC 6749, section 3.2).
struct EndpointCall: Sendable {
    let request: URLRequest
    /// What must appear in no error.
    let secrets: [String]
    /// Why it must not be sent, unless the app allows plain HTTP; `nil` if no machine on the way can read it.
    let refusal: OAuthError?

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
        refusal = Self.refusal(of: url)
    }

    private static func refusal(of url: URL) -> OAuthError? {
        guard WebOrigin(of: url)?.isProtected != true else { return nil }
        guard url.user == nil else { return .userInEndpoint }
        let isHTTPS = url.scheme?.lowercased() == "https"
        return isHTTPS ? .unreachable(code: URLError.Code.badURL.rawValue) : .insecureEndpoint
    }
}

/// How requests to an endpoint reach the server: each over a connection of its own that keeps nothing.
struct EndpointTransport: Sendable {
    private static let bodyLimit = 1 << 20

    /// How many times the idle limit an exchange takes in all: a server that trickles does not hold it for ever.
    var durationFactor = 5.0

    /// The app's own settings, such as a proxy or additional headers.
    var configuration: URLSessionConfiguration?
    var challengeHandler: URLAuthenticationChallengeHandler?

    /// Sends a request, and reads a reply of up to a megabyte.
    ///
    /// It can't be cancelled: a request that was sent may have spent its refresh token, and the next one is only in
    /// the reply.
    ///
    /// - Parameters:
    ///   - idleLimit: seconds without a byte after which the exchange fails.
    ///   - handler: called once, on any thread.
    func send(
        _ request: URLRequest,
        idleLimit: TimeInterval,
        then handler: @escaping @Sendable (Result<EndpointReply, OAuthError>) -> Void
    ) {
        let own = configuration?.copy() as? URLSessionConfiguration ?? .ephemeral
        own.keepNothing()
        own.timeoutIntervalForRequest = idleLimit
        own.timeoutIntervalForResource = idleLimit * durationFactor
        let exchange = HTTPExchange(request, bodyLimit: Self.bodyLimit, challengeHandler: challengeHandler) { outcome in
            handler(outcome.map { EndpointReply($0) }.mapError { OAuthError($0) })
        }
        exchange.start(over: HTTPConnections(own))
    }
}

/// What the client looks at of a whole reply.
///
/// The media type is not looked at: servers get it wrong.
package struct EndpointReply: Sendable {
    package let status: Int
    var retryAfter: String?
    package var body = Data()

    /// Sends a request over a connection of its own, and reads a reply of up to a megabyte.
    ///
    /// - Parameters:
    ///   - idleLimit: seconds without a byte after which the exchange fails.
    ///   - handler: called once, on any thread.
    package static func reply(
        to request: URLRequest,
        idleLimit: TimeInterval,
        then handler: @escaping @Sendable (Result<EndpointReply, OAuthError>) -> Void
    ) {
        EndpointTransport().send(request, idleLimit: idleLimit, then: handler)
    }
}

extension EndpointReply {
    init(_ reply: HTTPReply) {
        self.init(
            status: reply.response.statusCode,
            retryAfter: reply.response.value(forHTTPHeaderField: "Retry-After"),
            body: reply.body
        )
    }
}

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
                result += "%" + digits(byte)
            }
        }
        return result
    }

    /// A byte as two hexadecimal digits.
    static func digits(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + digits : digits
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
