import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

/// A real server with a real certificate that no system trusts, which `.ci/with-servers` starts.
private let port = ProcessInfo.processInfo.environment["UNTRUSTED_CERTIFICATE"]?.split(separator: ":").first

@Suite(
    "A server whose certificate no system trusts",
    .takesTurns,
    .enabled(if: port != nil, Comment(rawValue: RealServer.command)),
    .endsHangs
)
struct UntrustedCertificateTests {
    @Test func `is sent nothing, costs no credential, and the error says what is wrong with it`() async throws {
        let url = try #require(URL(string: "https://127.0.0.1:\(port ?? "")/token"))
        let credential = Credential(refreshToken: "RT-that-nobody-sees")
        let store = MemoryCredentialStore(credential)
        let loader = OAuthLoader(
            endpoint: TokenEndpoint(url, authentication: .none(clientID: "app")),
            store: store
        )
        let error = try await #require(throws: OAuthError.self) { try await loader.load(replacing: nil) }
        #expect(!error.mayHaveBeenCarriedOut, "\(error)")
        #expect(!error.requiresSignIn, "\(error)")
        #expect("\(error)".lowercased().contains("certificate"), "\(error)")
        #expect(!"\(error)".contains("RT-that-nobody-sees"))
        #expect(try await store.load()?.credential.refreshToken == "RT-that-nobody-sees")
    }
}
