import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

/// The loopback server checks what RFC 9449, section 4.3, names: one row for each rule, and one for what is right.
@Suite("The loopback server refuses a proof", .takesTurns, .endsHangs)
struct ProofLedgerTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let url = "http://127.0.0.1:8080/token"

    /// What is changed of a proof that is right.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// What the refusal begins with; `nil` if the proof is right all the same.
        let refusal: String?
        var head: [String: String] = ["typ": "dpop+jwt", "alg": "ES256"]
        var jwk: [String: String] = [:]
        var claims: [String: String] = [:]
        var leftOut: Set<String> = []
        var iat: Double = 1_800_000_000
        var isForged = false
        var count = 1

        var testDescription: String { name }
    }

    static let changes: [Change] = [
        Change(name: "that has nothing wrong", refusal: nil),
        Change(name: "twice", refusal: "4.3.1", count: 2),
        Change(name: "none", refusal: "4.3.1", count: 0),
        Change(name: "without jti", refusal: "4.3.2", leftOut: ["jti"]),
        Change(name: "without htm", refusal: "4.3.2", leftOut: ["htm"]),
        Change(name: "without htu", refusal: "4.3.2", leftOut: ["htu"]),
        Change(name: "without iat", refusal: "4.3.2", leftOut: ["iat"]),
        Change(name: "of another type", refusal: "4.3.4", head: ["typ": "jwt", "alg": "ES256"]),
        Change(name: "without a signature", refusal: "4.3.5", head: ["typ": "dpop+jwt", "alg": "none"]),
        Change(name: "on another curve", refusal: "4.3.5", jwk: ["crv": "secp256k1"]),
        Change(name: "with a private key", refusal: "4.3.7", jwk: ["d": "AAAA"]),
        Change(name: "with the signature of something else", refusal: "4.3.6", isForged: true),
        Change(name: "for another method", refusal: "4.3.8", claims: ["htm": "post"]),
        Change(name: "for another path", refusal: "4.3.9", claims: ["htu": "http://127.0.0.1:8080/other"]),
        Change(name: "for another port", refusal: "4.3.9", claims: ["htu": "http://127.0.0.1/token"]),
        Change(name: "for another scheme", refusal: "4.3.9", claims: ["htu": "https://127.0.0.1:8080/token"]),
        Change(name: "for a URL in another spelling", refusal: nil, claims: ["htu": "HTTP://127.0.0.1:8080/%74oken"]),
        Change(name: "for a URL with a query", refusal: nil, claims: ["htu": url + "?a=b#c"]),
        Change(name: "of a minute ago", refusal: nil, iat: 1_799_999_940),
        Change(name: "of longer ago", refusal: "4.3.11", iat: 1_799_999_939),
        Change(name: "of the future", refusal: "4.3.11", iat: 1_800_000_061),
        Change(name: "of no time at all", refusal: "4.3.11", iat: 1e300),
    ]

    private func proof(_ change: Change, by key: ProofKey, nonce: String? = nil, ath: String? = nil) throws -> String {
        var jwk = try #require(try JSONSerialization.jsonObject(with: Data(key.jwk.utf8)) as? [String: String])
        jwk.merge(change.jwk) { $1 }
        var head: [String: Any] = change.head
        head["jwk"] = jwk
        var claims: [String: Any] = ["htm": "POST", "htu": Self.url, "iat": change.iat, "jti": LoginSecret.random()]
        claims["nonce"] = nonce
        claims["ath"] = ath
        claims.merge(change.claims) { $1 }
        for name in change.leftOut { claims[name] = nil }
        let parts = try [head, claims].map { LoginSecret.base64URL(try JSONSerialization.data(withJSONObject: $0)) }
        let message = parts.joined(separator: ".")
        let signature = try key.signature(of: Data((change.isForged ? "x" + message : message).utf8))
        return message + "." + LoginSecret.base64URL(signature)
    }

    private func refusal(
        _ ledger: inout ProofLedger,
        _ fields: [String],
        token: String? = nil,
        at place: AuthorizationServerFault.Place = .tokenEndpoint
    ) -> ProofLedger.Refusal? {
        let request = ProofLedger.Request(fields: fields, method: "POST", url: Self.url, token: token)
        do throws(ProofLedger.Refusal) {
            _ = try ledger.check(request, at: place, Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: changes)
    func `by each rule of section 4_3`(change: Change) throws {
        var ledger = ProofLedger(ProofDemand())
        let key = try ProofKeys.ofThisMachine.make()
        let fields = try (0..<change.count).map { _ in try proof(change, by: key) }
        let refusal = refusal(&ledger, fields)
        #expect(refusal?.code == (change.refusal == nil ? nil : "invalid_dpop_proof"))
        #expect(refusal?.what.hasPrefix(change.refusal ?? "") ?? true, "\(refusal?.what ?? "")")
    }

    @Test(arguments: ["", "a.b", "a.b.c", "..", "a.b.c.d", "é.é.é"])
    func `that is no JWT`(text: String) {
        var ledger = ProofLedger(ProofDemand())
        #expect(refusal(&ledger, [text])?.what.hasPrefix("4.3.2") == true)
    }

    @Test func `whose number was used before, for twice the window`() throws {
        var ledger = ProofLedger(ProofDemand())
        let text = try proof(Self.changes[0], by: try ProofKeys.ofThisMachine.make())
        #expect(refusal(&ledger, [text]) == nil)
        #expect(refusal(&ledger, [text])?.what.hasPrefix("11.1") == true)
    }

    @Test func `without the access token's hash, or with that of another`() throws {
        let key = try ProofKeys.ofThisMachine.make()
        for (ath, isRight) in [(LoginSecret.challenge(of: "A1"), true), (LoginSecret.challenge(of: "A2"), false)] {
            var ledger = ProofLedger(ProofDemand())
            let text = try proof(Self.changes[0], by: key, ath: ath)
            #expect((refusal(&ledger, [text], token: "A1", at: .resource) == nil) == isRight)
        }
        var ledger = ProofLedger(ProofDemand())
        let text = try proof(Self.changes[0], by: key)
        #expect(refusal(&ledger, [text], token: "A1", at: .resource)?.what.hasPrefix("4.3.12") == true)
    }

    @Test func `without its nonce, which is another one at the resource`() throws {
        var ledger = ProofLedger(ProofDemand(nonceUses: 0))
        let key = try ProofKeys.ofThisMachine.make()
        func attempt(_ nonce: String?, at place: AuthorizationServerFault.Place) throws -> String? {
            refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: nonce)], at: place)?.code
        }
        #expect(try attempt(nil, at: .tokenEndpoint) == "use_dpop_nonce")
        let nonce = try #require(ledger.nonce(at: .tokenEndpoint))
        #expect(try attempt(nonce, at: .tokenEndpoint) == nil)
        #expect(try attempt(nonce, at: .tokenEndpoint) == nil)
        #expect(try attempt(nonce, at: .resource) == "use_dpop_nonce")
        #expect(try attempt(nonce + "x", at: .tokenEndpoint) == "use_dpop_nonce")
    }

    @Test func `with a nonce that was replaced twice`() throws {
        var ledger = ProofLedger(ProofDemand(nonceUses: 1))
        let key = try ProofKeys.ofThisMachine.make()
        let first = try #require(ledger.nonce(at: .tokenEndpoint))
        #expect(refusal(&ledger, []) != nil)
        var nonces = [first]
        for _ in 0..<2 {
            let nonce = try #require(ledger.nonce(at: .tokenEndpoint))
            #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: nonce)]) == nil)
            nonces.append(try #require(ledger.nonce(at: .tokenEndpoint)))
        }
        #expect(Set(nonces).count == 3)
        #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: first)]) == .wantsNonce)
        #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: nonces[1])]) == nil)
    }

    @Test func `with a nonce that was used before, if each is good for one proof`() throws {
        var ledger = ProofLedger(ProofDemand(nonceUses: 1, takesFormerNonce: false))
        let key = try ProofKeys.ofThisMachine.make()
        let nonce = try #require(ledger.nonce(at: .tokenEndpoint))
        #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: nonce)]) == nil)
        #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: nonce)]) == .wantsNonce)
        // A refusal uses up no nonce.
        let next = try #require(ledger.nonce(at: .tokenEndpoint))
        #expect(refusal(&ledger, [try proof(Self.changes[0], by: key, nonce: next)]) == nil)
    }
}
