import Foundation
import OAuthFoundation

/// The nonces that the server has given out, and the proofs that it has seen.
///
/// Pure but for the check of signatures, which it is given: no clock, no sockets.
struct ProofLedger {
    /// Why a proof is refused: the error code, and the words for whoever builds the client.
    struct Refusal: Error, Hashable {
        let code: String
        let what: String

        static let wantsNonce = Refusal(
            code: "use_dpop_nonce",
            what: "4.3.10: the nonce is missing, or not good any more"
        )
        static func proof(_ what: String) -> Refusal { Refusal(code: "invalid_dpop_proof", what: what) }
    }

    /// What a request says beside its proof.
    struct Request {
        let fields: [String]
        let method: String
        let url: String
        /// The access token, at the resource.
        var token: String?
    }

    private struct Nonces {
        var present = LoginSecret.random()
        var former: String?
        var uses = 0
    }

    private let demand: ProofDemand
    /// Two places, two servers with nonces of their own.
    private var nonces: [AuthorizationServerFault.Place: Nonces] = [.tokenEndpoint: Nonces(), .resource: Nonces()]
    private var seen: [String: TimeInterval] = [:]

    init(_ demand: ProofDemand) { self.demand = demand }

    /// Whether replies name a nonce that nobody has asked for.
    var namesNonceAlways: Bool { demand.nonceUses != nil && demand.namesNonceAlways }

    func nonce(at place: AuthorizationServerFault.Place) -> String? { nonces[place]?.present }

    /// The server's clock, in seconds since 1970.
    func time(_ now: Date) -> TimeInterval { now.timeIntervalSince1970 + demand.clockOffset }

    /// Checks a proof as RFC 9449, section 4.3, has it, and returns the thumbprint of its key.
    ///
    /// What costs no lock is checked first; a proof that is refused for another reason uses up no nonce and no `jti`.
    mutating func check(
        _ request: Request,
        at place: AuthorizationServerFault.Place,
        _ now: Date
    ) throws(Refusal) -> String {
        let proof = try Self.read(request)
        guard let publicKey = proof.publicKey else { throw .proof("4.3.5: the key is none of ES256") }
        guard let isGood = demand.verify(publicKey, proof.message, proof.signature) else {
            throw Refusal(code: "server_error", what: "this machine has no libcrypto with which to check a proof")
        }
        guard isGood else { throw .proof("4.3.6: the signature is not that of the key") }
        guard proof.claims.htm == request.method else { throw .proof("4.3.8: htm is \(proof.claims.htm)") }
        guard Self.normal(proof.claims.htu) == Self.normal(request.url) else {
            throw .proof("4.3.9: htu is \(proof.claims.htu)")
        }
        try use(proof.claims.nonce, at: place)
        let time = time(now)
        guard abs(time - proof.claims.iat) <= demand.window else {
            throw .proof("4.3.11: iat is off by \(proof.claims.iat - time) s")
        }
        if let token = request.token, proof.claims.ath != LoginSecret.challenge(of: token) {
            throw .proof("4.3.12: ath is not that of the access token")
        }
        seen = seen.filter { time - $0.value <= 2 * demand.window }
        guard seen.updateValue(time, forKey: proof.claims.jti) == nil else {
            throw .proof("11.1: this jti was used before")
        }
        return proof.thumbprint
    }

    private static func read(_ request: Request) throws(Refusal) -> ReceivedProof {
        guard request.fields.count == 1 else { throw .proof("4.3.1: there are \(request.fields.count) DPoP fields") }
        guard let proof = ReceivedProof(request.fields[0]) else {
            throw .proof("4.3.2, 4.3.3: the field is not one JWT with typ, alg, jwk, jti, htm, htu and iat")
        }
        guard proof.head.typ == "dpop+jwt" else { throw .proof("4.3.4: typ is not dpop+jwt") }
        guard proof.head.alg == "ES256" else { throw .proof("4.3.5: alg is not ES256") }
        guard proof.head.jwk.d == nil else { throw .proof("4.3.7: jwk has a private key") }
        return proof
    }

    private mutating func use(_ nonce: String?, at place: AuthorizationServerFault.Place) throws(Refusal) {
        guard let most = demand.nonceUses, var known = nonces[place] else { return }
        guard let nonce, nonce == known.present || nonce == known.former else { throw .wantsNonce }
        known.uses += 1
        if most > 0, known.uses >= most {
            known = Nonces(former: demand.takesFormerNonce ? known.present : nil)
        }
        nonces[place] = known
    }

    /// RFC 3986, sections 6.2.2 and 6.2.3, as RFC 9449, section 4.3, wants it; `nil` for what is no URL of a server.
    static func normal(_ text: String) -> String? {
        let bare = String(text.prefix { $0 != "?" && $0 != "#" })
        guard let parts = URLComponents(string: bare), let scheme = parts.scheme?.lowercased(), parts.user == nil,
            let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty
        else { return nil }
        let usual = ["http": 80, "https": 443][scheme]
        let port = parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
        )
        let plain = path.removingPercentEncoding?.addingPercentEncoding(withAllowedCharacters: unreserved)
        return "\(scheme)://\(host)\(port)\(plain ?? path)"
    }
}
