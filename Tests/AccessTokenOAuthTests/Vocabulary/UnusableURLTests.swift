import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A URL that the system does not try", .timeLimit(.minutes(1)))
struct UnusableURLTests {
    @Test(arguments: [URLError.Code.badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection])
    func `is a mistake of configuration, and not tried again`(code: URLError.Code) {
        let error = OAuthError.unreachable(code: code.rawValue)
        #expect(!error.isTransient)
        #expect(error.isConfigurationMistake)
        #expect("\(error)".contains("Configure the URL"))
        #expect(OAuthError.unreachable(code: URLError.Code.cannotConnectToHost.rawValue).isTransient)
    }
}
