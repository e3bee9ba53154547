import Foundation

extension OAuthError {
    /// Only what cannot have reached the server counts as not sent.
    init(failedExchange error: any Error) {
        let code = (error as? URLError)?.code ?? .unknown
        switch code {
        case _ where error is HTTPBody.TooLong:
            self = .bodyTooLong
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .badURL, .unsupportedURL,
            .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .dataNotAllowed,
            .internationalRoamingOff, .appTransportSecurityRequiresSecureConnection:
            self = .unreachable(code: code.rawValue)
        case .timedOut:
            self = .timedOut
        default:
            self = .connectionLost(code: code.rawValue)
        }
    }
}
