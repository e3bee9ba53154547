import AccessTokenOAuth
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

@Suite("A proof of possession", .takesTurns, .endsHangs)
struct ProofTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000.9)

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// The key of RFC 9449, section 4.1, of which nobody here has the private part.
    private func publishedKey() throws -> ProofKey {
        func bytes(_ text: String) throws -> Data {
            try #require(Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + "="))
        }
        let x = try bytes("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs")
        let y = try bytes("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA")
        return try ProofKey(stored: Data(), publicKey: [4] + x + y) { _ in Data(repeating: 0, count: 64) }
    }

    @Test func `names the key as RFC 9449, section 6_1, does`() throws {
        #expect(try publishedKey().thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test func `names the access token as RFC 9449, section 7_1, does`() throws {
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
        let url = try url("https://resource.example.org/protectedresource")
        let text = try Proof.text(by: publishedKey(), for: "GET", url, token: token, nonce: nil, at: now)
        #expect(try claims(text)["ath"] as? String == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    }

    @Test func `has the claims of section 4_2, and none that says nothing`() throws {
        let url = try url("https://as.example/a%2Fb/token?x=1#y")
        let key = try ProofKeys.ofThisMachine.make()
        let text = try Proof.text(by: key, for: "POST", url, token: nil, nonce: nil, at: now, id: "once")
        let claims = try claims(text)
        #expect(claims.keys.sorted() == ["htm", "htu", "iat", "jti"])
        #expect(claims["htm"] as? String == "POST")
        #expect(claims["htu"] as? String == "https://as.example/a%2Fb/token")
        #expect(claims["iat"] as? Int == 1_800_000_000)
        #expect(claims["jti"] as? String == "once")
        let head = try #require(try parts(text).first)
        #expect(head["typ"] as? String == "dpop+jwt" && head["alg"] as? String == "ES256")
        let jwk = try #require(head["jwk"] as? [String: String])
        #expect(jwk.keys.sorted() == ["crv", "kty", "x", "y"])
    }

    /// A request has a path (RFC 9110, section 4.2.3), which a server that compares the text sees.
    @Test(arguments: ["", "?x=1", "#y", "/"])
    func `names the path that is sent for a URL without one`(end: String) throws {
        let url = try url("https://api.example" + end)
        let proof = try Proof.text(by: publishedKey(), for: "GET", url, token: nil, nonce: nil, at: now)
        #expect(try claims(proof)["htu"] as? String == "https://api.example/")
    }

    /// Bytes that are no text in UTF-8, as in the names of old files.
    @Test(arguments: ["/caf%E9", "/%FF/", "/a%2Fb", "/caf%C3%A9"]) func `names any path as it is`(path: String) throws {
        let url = try url("https://api.example" + path)
        let proof = try Proof.text(by: publishedKey(), for: "GET", url, token: nil, nonce: nil, at: now)
        #expect(try claims(proof)["htu"] as? String == "https://api.example" + path)
    }

    /// What a server says goes into JSON, and must not be able to add a claim there.
    @Test func `carries any nonce and any method as they are`() throws {
        let (method, nonce) = (#"QU"ERY\"#, #"n","htm":"GET"#)
        let url = try url("https://as.example/")
        let text = try Proof.text(by: publishedKey(), for: method, url, token: nil, nonce: nonce, at: now)
        #expect(try claims(text)["nonce"] as? String == nonce)
        #expect(try claims(text)["htm"] as? String == method)
    }

    @Test func `is signed by the key that it names, also by a key that was stored`() throws {
        let keys = ProofKeys.ofThisMachine
        let made = try keys.make()
        let read = try keys.key(from: made.stored)
        #expect(read == made)
        for _ in 0..<200 {
            let text = try Proof.text(by: read, for: "GET", url("https://a/"), token: nil, nonce: nil, at: now)
            let proof = try #require(ReceivedProof(text))
            #expect(proof.thumbprint == made.thumbprint)
            #expect(SystemVerifier.verify(try #require(proof.publicKey), proof.message, proof.signature) == true)
            #expect(SystemVerifier.verify(try #require(proof.publicKey), proof.message + [0], proof.signature) == false)
        }
    }

    @Test func `has a number of its own each time`() throws {
        let key = try publishedKey()
        let numbers = try (0..<100).map { _ in
            try claims(Proof.text(by: key, for: "GET", url("https://a/"), token: nil, nonce: nil, at: now))["jti"]
                as? String
        }
        #expect(Set(numbers).count == 100)
    }

    @Test(arguments: [-1e18, 1e300, .nan, .infinity])
    func `is made at any time that a clock may say`(seconds: TimeInterval) throws {
        let date = Date(timeIntervalSince1970: seconds)
        _ = try Proof.text(by: publishedKey(), for: "GET", url("https://a/"), token: nil, nonce: nil, at: date)
    }

    // MARK: Keys of the app's own

    @Test(arguments: [Data(), Data(repeating: 4, count: 64), Data(repeating: 2, count: 65)])
    func `is not made with a public key of another form`(point: Data) {
        let error = #expect(throws: OAuthError.self) { try ProofKey(stored: Data(), publicKey: point) { $0 } }
        #expect(error?.isConfigurationMistake == true)
        #expect(error.map { "\($0)".contains("65 bytes") } == true)
    }

    /// DER, as most libraries write it, has 70 to 72.
    @Test func `is not made of a signature in another form`() throws {
        let key = try ProofKey(stored: Data(), publicKey: [4] + Data(repeating: 1, count: 64)) { _ in
            Data(repeating: 0, count: 70)
        }
        let error = #expect(throws: OAuthError.self) {
            try Proof.text(by: key, for: "GET", url("https://a/"), token: nil, nonce: nil, at: now)
        }
        #expect(error?.isConfigurationMistake == true)
        #expect(error.map { "\($0)".contains("DER") } == true)
    }

    @Test func `shows nothing of what is stored of the key`() throws {
        let key = try ProofKey(stored: Data("s3cret".utf8), publicKey: [4] + Data(repeating: 1, count: 64)) { $0 }
        let keys = ProofKeys.ofThisMachine(read: { _ in false })
        var grant = TokenGrant.clientCredentials()
        grant = grant.bound(to: key)
        let credential = Credential(TokenResponse(accessToken: AccessToken(value: "A")).bound(to: key))
        #expect(credential.proofKey == key.stored)
        for shown in [
            everythingShown(by: key), everythingShown(by: keys), everythingShown(by: grant),
            everythingShown(by: credential), everythingShown(by: Prover(key: key, memory: ProofMemory()).key),
        ] {
            #expect(!shown.contains("s3cret"))
            #expect(!shown.contains(key.stored.base64EncodedString()))
            #expect(!shown.contains("6 bytes"))
        }
    }

    private func parts(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: ".").prefix(2).map { part in
            let usual = part.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - usual.count % 4) % 4)
            let data = try #require(Data(base64Encoded: usual + padding))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
    }

    private func claims(_ text: String) throws -> [String: Any] { try #require(try parts(text).last) }
}
