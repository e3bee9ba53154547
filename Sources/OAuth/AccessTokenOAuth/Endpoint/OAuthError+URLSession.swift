import Foundation

extension OAuthError {
    /// - Parameter hasSentBody: whether anything of the body has left this process. It decides what the server can know:
    ///   the system's codes do not tell a broken reply from a broken connection.
    init(failedExchange error: any Error, hasSentBody: Bool) {
        guard !(error is HTTPBody.TooLong) else {
            self = .bodyTooLong
            return
        }
        let code = (error as? URLError)?.code ?? .unknown
        let system = (error as? URLError).map { TokenReplyReader.printable($0.localizedDescription) }
        if !hasSentBody {
            self = .unreachable(code: code.rawValue, system: system)
        } else if code == .timedOut {
            self = .timedOut
        } else {
            self = .connectionLost(code: code.rawValue, system: system)
        }
    }
}

extension URLError.Code {
    /// The code and what it means, where that tells somebody where to look; Foundation for Linux has numbers only.
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
