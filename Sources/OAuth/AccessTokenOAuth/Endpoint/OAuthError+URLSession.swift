import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension OAuthError {
    /// What a failure says of the request: the system's codes do not tell a broken reply from a broken connection, and
    /// whether any of the body was sent does.
    init(_ failure: HTTPFailure, at now: Date) {
        guard !(failure.cause is HTTPBodyTooLong) else {
            self = Self.tooLong(failure.response, at: now)
            return
        }
        let code = (failure.cause as? URLError)?.code ?? .unknown
        let system = (failure.cause as? URLError)
            .map { Self.withoutProxy(SentSecrets.printable($0.localizedDescription)) }
        let words = system?.lowercased() ?? ""
        if !failure.hasSentBody {
            // Linux has one code for everything, and the reason in its text.
            let isCertificate = code == .unknown && words.contains("certificate")
            let known: URLError.Code = isCertificate ? .serverCertificateUntrusted : code
            self = .unreachable(code: known.rawValue, system: system)
        } else if code == .timedOut {
            self = .timedOut
        } else if Self.tellsOfUnreadableHead(failure.cause) {
            self = .unreadableHead(system: system)
        } else {
            self = .connectionLost(code: code.rawValue, system: system)
        }
    }

    /// The status says what became of the request, however long the page behind it is.
    private static func tooLong(_ response: HTTPURLResponse?, at now: Date) -> OAuthError {
        guard let response, !(200...299).contains(response.statusCode) else { return .bodyTooLong }
        let head = TokenEndpointReply(response, body: Data(), at: now)
        let error = TokenReplyReader(secrets: []).read(head).error
        if case .notUnderstood = error?.reason {
            return .notUnderstood(status: head.status, "it is longer than a megabyte")
        }
        return error ?? .bodyTooLong
    }

    /// libcurl repeats the URL of a proxy that it cannot use, behind a quotation mark; a password may be in it.
    private static func withoutProxy(_ text: String) -> String {
        guard text.contains("@") else { return text }
        return text[..<(text.firstIndex(of: "'") ?? text.startIndex)] + "<hidden>"
    }

    fileprivate static func tellsOfUnreadableHead(_ error: any Error) -> Bool {
        let words = (error as? URLError)?.localizedDescription.lowercased() ?? ""
        return unreadableHeads.contains(where: words.contains)
    }

    /// What libcurl says if a line of the head is not taken, or there are too many bytes.
    ///
    /// "out of memory" is a single line of more than 100 KB. HTTP/1.2 is HTTP all the same, unlike a later version.
    private static let unreadableHeads = [
        "failed writing header", "too large response headers", "header without colon", "out of memory",
        "nul byte in header", "unsupported http version (1.",
    ]
}

extension HTTPFailure {
    /// Whether something has answered, be it with a head that cannot be read.
    var hasAnswer: Bool { response != nil || OAuthError.tellsOfUnreadableHead(cause) }
}

extension URLError.Code {
    /// The code and what it means, where that tells a person where to look; Foundation for Linux has numbers only.
    static func text(_ number: Int) -> String {
        // Where the codes are a struct, every number is one.
        let code: URLError.Code? = URLError.Code(rawValue: number)
        return code?.meaning.map { "URLError \(number): \($0)" } ?? "URLError \(number)"
    }

    private var meaning: String? {
        switch self {
        case .cannotFindHost, .dnsLookupFailed: "no host of that name was found"
        case .cannotConnectToHost: "nothing answers at that host and port"
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: "this device has no network"
        case .networkConnectionLost: "it broke before the reply was whole"
        case .secureConnectionFailed: "no TLS connection could be made"
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: "the server's certificate is not trusted"
        case .serverCertificateHasBadDate: "the server's certificate has expired"
        case .serverCertificateNotYetValid: "the server's certificate is not valid yet"
        case .appTransportSecurityRequiresSecureConnection: "App Transport Security wants https"
        case .badURL, .unsupportedURL: "it is no URL of a server"
        default: nil
        }
    }
}
