import AccessTokenOAuth
import Foundation
import OAuthFoundation
import TestSupport
import Testing

@Suite("What the page of client secrets shows")
struct MadeSecretsTests {
    /// The parts of a token, read.
    private func parts(_ token: String) throws -> [[String: Any]] {
        try token.split(separator: ".").dropLast().map { part in
            let usual = String(part).replacing("-", with: "+").replacing("_", with: "/")
            let padded = usual + String(repeating: "=", count: (4 - usual.count % 4) % 4)
            let data = try #require(Data(base64Encoded: padded))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
    }

    @Test func `is a token with the claims that Apple and others ask for, signed over its own text`() async throws {
        let assertion = SignedAssertion(keyID: "KEY") { text in Data(SHA256.digest(Array(text))) }
        let token = try await assertion.token(from: "TEAM", about: "com.example", to: "https://appleid.apple.com")
        let parts = try parts(token)
        #expect(parts[0] as? [String: String] == ["alg": "ES256", "typ": "JWT", "kid": "KEY"])
        #expect(parts[1]["iss"] as? String == "TEAM" && parts[1]["sub"] as? String == "com.example")
        #expect(parts[1]["aud"] as? String == "https://appleid.apple.com")
        let times = (parts[1]["iat"] as? Int, parts[1]["exp"] as? Int)
        #expect(times.0.map { $0 + 300 } == times.1)
        let text = token.prefix(upTo: try #require(token.lastIndex(of: ".")))
        let signature = Data(SHA256.digest(Array(text.utf8))).base64EncodedString()
        #expect(
            signature.prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
                == Array(token.dropFirst(text.count + 1))
        )
        let next = try await assertion.token(from: "TEAM", about: "com.example", to: "https://appleid.apple.com")
        #expect(next != token)
    }
}
