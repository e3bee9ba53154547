#if OpenSSL
import AccessTokenOpenSSL
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer

/// `.ci/deep openssl` builds them: the usual run needs no header of OpenSSL.
@Suite("A key of OpenSSL", .takesTurns, .endsHangs)
struct OpenSSLKeyTests {
    private func isSigned(by key: ProofKey, _ url: URL) throws -> Bool {
        let proof = ReceivedProof(try Proof.text(by: key, for: "GET", url, token: nil, nonce: nil, at: .now))
        guard let proof, let point = proof.publicKey else { return false }
        return SystemVerifier.verify(point, proof.message, proof.signature) == true
    }

    @Test func `signs, also when it is read again, and by another library`() throws {
        let url = try #require(URL(string: "https://a/"))
        let made = try ProofKeys.openSSL.make()
        let read = try ProofKeys.openSSL.key(from: made.stored)
        let loaded = try ProofKeys.ofThisMachine.key(from: made.stored)
        #expect(read == made && loaded == made)
        for key in [made, read, loaded] { for _ in 0..<200 { #expect(try isSigned(by: key, url)) } }
    }

    @Test func `is shared by threads`() async throws {
        let url = try #require(URL(string: "https://a/"))
        let key = try ProofKeys.openSSL.make()
        let areSigned = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<400 { group.addTask { try isSigned(by: key, url) } }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(areSigned)
    }

    @Test(arguments: [Data(), Data("s3cret".utf8), Data(repeating: 0x30, count: 138)])
    func `that is none is lost`(stored: Data) {
        #expect(throws: OAuthError.proofKeyLost) { try ProofKeys.openSSL.key(from: stored) }
    }
}
#endif
