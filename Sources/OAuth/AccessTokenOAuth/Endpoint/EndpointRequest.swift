import AccessTokenSynchronization
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLRequest {
    /// A request to an endpoint of the authorization server (RFC 6749, section 3.2).
    init(_ url: URL, posting parameters: [FormParameter], authorization: String?) {
        self.init(url: url)
        httpMethod = "POST"
        setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        setValue("application/json", forHTTPHeaderField: "Accept")
        // Base64 has no line break, with which `setValue` would do nothing and not say so.
        if let authorization { setValue(authorization, forHTTPHeaderField: "Authorization") }
        httpBody = Data(FormEncoding.body(parameters).utf8)
    }
}

/// How requests to an endpoint reach the server: each over a connection of its own that keeps nothing.
package struct EndpointTransport: Sendable {
    private static let bodyLimit = 1 << 20
    /// Made once: on Linux, each new one reads the whole environment, for the folder of a cache that is not wanted.
    private static let ephemeral = URLSessionConfiguration.ephemeral

    /// The app's own settings, such as a proxy or additional headers.
    var configuration: URLSessionConfiguration?
    var challengeHandler: URLAuthenticationChallengeHandler?
    /// Says when a reply came.
    var clock: any AccessTokenClock = SystemClock()

    package init() {}

    /// Sends a request, and reads a reply of up to a megabyte.
    ///
    /// It can't be cancelled: the refresh token may be spent, and the next one is only in the reply. After `limit`
    /// seconds the exchange fails, also if the server trickles: another process may send the refresh token then. In a
    /// process that was stopped it fails later. The handler is called once, on any thread.
    package func send(
        _ request: URLRequest,
        limit: TimeInterval,
        then handler: @escaping @Sendable (Result<TokenEndpointReply, OAuthError>) -> Void
    ) {
        let exchange = HTTPExchange(
            request,
            bodyLimit: Self.bodyLimit,
            challengeHandler: challengeHandler
        ) { [clock] outcome in
            handler(outcome.map { TokenEndpointReply($0, at: clock.now) }.mapError { OAuthError($0, at: clock.now) })
        }
        exchange.start(over: connections(limit: limit))
    }

    func connections(limit: TimeInterval) -> HTTPConnections {
        let own = (configuration ?? Self.ephemeral).copy() as? URLSessionConfiguration ?? .ephemeral
        own.keepNothing()
        // The exchange counts its time, and closes its connection then. In a process that was stopped, a timer of the
        // session's would fire before the session reads the reply that has come meanwhile: its own is far behind.
        own.timeoutIntervalForRequest = 4 * limit
        own.timeoutIntervalForResource = 4 * limit
        return HTTPConnections(own, timeLimit: limit)
    }
}

extension TokenEndpointReply {
    /// What the client looks at of a whole reply: not at the media type, which servers get wrong.
    init(_ reply: HTTPReply, at now: Date) {
        self.init(reply.response, body: reply.body, at: now)
    }

    init(_ response: HTTPURLResponse, body: Data, at now: Date) {
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { headers[name] = value }
        self.init(status: response.statusCode, headers: headers, body: body, received: now)
    }
}

/// Encodes parameters as `application/x-www-form-urlencoded` (RFC 6749, appendix B).
///
/// By hand: `URLComponents` leaves `+` as it is, which a server reads as a space, and tokens are full of them.
enum FormEncoding {
    /// Those of RFC 3986, section 2.3, which a code verifier consists of as well.
    static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

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
