import AccessTokenSynchronization
import Foundation
import OAuthFoundation

/// Who has to prove that he has a key, and what is said of a proof that is refused.
extension AuthorizationEndpoints {
    /// The thumbprint of the key to which a request's tokens are bound; `nil` if the server asks for no proofs.
    func thumbprint(
        of request: HTTPRequest,
        at place: AuthorizationServerFault.Place,
        issuer: String,
        token: String? = nil
    ) throws(ProofLedger.Refusal) -> String? {
        let proof = ProofLedger.Request(
            fields: request.fields["dpop"] ?? [],
            method: request.method,
            url: issuer + request.path,
            token: token
        )
        let result = state.withLock { state -> Result<String, ProofLedger.Refusal>? in
            guard var proofs = state.proofs else { return nil }
            defer { state.proofs = proofs }
            do throws(ProofLedger.Refusal) {
                return .success(try proofs.check(proof, at: place, .now))
            } catch {
                state.tally.refusedProofs += 1
                return .failure(error)
            }
        }
        return try result?.get()
    }

    /// The thumbprint of the key by which a pushed request is proved; `nil` if it has no proof, which it need not have.
    ///
    /// A request that names a key as well has to name that one (RFC 9449, section 10.1).
    func pushedThumbprint(
        _ request: HTTPRequest,
        _ form: FormFields,
        issuer: String
    ) throws(ProofLedger.Refusal) -> String? {
        guard request.fields["dpop"] != nil,
            let thumbprint = try thumbprint(of: request, at: .tokenEndpoint, issuer: issuer)
        else { return nil }
        guard form["dpop_jkt"] ?? thumbprint == thumbprint else { throw .proof("10.1: dpop_jkt names another key") }
        return thumbprint
    }

    /// RFC 9449, sections 5 and 8: 400 at the token endpoint; sections 7.1 and 9: a challenge at the resource.
    func refused(_ refusal: ProofLedger.Refusal, at place: AuthorizationServerFault.Place) -> HTTPResponse {
        let isMistakeOfOurs = refusal.code == "server_error"
        let status = isMistakeOfOurs ? 500 : place == .resource ? 401 : 400
        // The words may repeat what was sent.
        let words = refusal.what.filter { $0.isASCII && $0 != "\"" && $0 != "\\" && !$0.isNewline }
        var response = HTTPResponse(
            status: status,
            json: #"{"error":"\#(refusal.code)","error_description":"\#(words)"}"#
        )
        if place == .resource, !isMistakeOfOurs { response.fields = [Self.challenge(refusal.code)] }
        if refusal == .wantsNonce, let nonce = nonce(at: place) { response.fields.append(nonce) }
        return response
    }

    static func challenge(_ code: String?) -> String {
        "WWW-Authenticate: DPoP " + (code.map { "error=\"\($0)\", " } ?? "") + "algs=\"ES256\""
    }

    private func nonce(at place: AuthorizationServerFault.Place) -> String? {
        state.withLock { $0.proofs }?.nonce(at: place).map { "DPoP-Nonce: \($0)" }
    }

    /// The reply with the server's time, and with the nonce for the next request (section 8.2).
    func naming(_ response: HTTPResponse, at place: AuthorizationServerFault.Place) -> HTTPResponse {
        guard let proofs = state.withLock({ $0.proofs }) else { return response }
        var response = response
        response.fields.append("Date: \(HTTPDate.text(Date(timeIntervalSince1970: proofs.time(.now))))")
        let hasNonce = response.fields.contains { $0.hasPrefix("DPoP-Nonce") }
        if !hasNonce, proofs.namesNonceAlways, let nonce = nonce(at: place) { response.fields.append(nonce) }
        return response
    }
}

/// The time as header fields have it (RFC 9110, section 5.6.7).
enum HTTPDate {
    static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
