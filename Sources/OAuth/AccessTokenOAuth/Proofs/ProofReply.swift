import Foundation

/// What of a reply is about the proof that was sent, or that was missing.
struct ProofReply: Sendable {
    /// What the server has against the proof.
    enum Refusal: Hashable, Sendable {
        /// It wants a nonce, or another one (RFC 9449, sections 8 and 9).
        case nonce
        /// Something else about the proof (RFC 9449, section 5).
        case proof
    }

    /// Longer ones would make a header field that servers do not take.
    private static let longestNonce = 2048

    /// RFC 9449, section 8.1.
    private static let nonceCharacters = Set((0x21...0x7E).filter { $0 != 0x22 && $0 != 0x5C } as [UInt8])

    /// Seconds within which two clocks count as the same: a `Date` has no parts of a second.
    ///
    /// Not more: some servers take no proof of the future, not even of the next second.
    private static let smallestOffset: TimeInterval = 1

    /// A new nonce, with a reply of any status (RFC 9449, section 8.2).
    let nonce: String?
    /// `nil` if the server has nothing against the proof.
    let refusal: Refusal?
    /// Seconds by which the server's clock is ahead of this one; `nil` unless the proof itself was refused, and without
    /// a `Date`: nobody minds the time of a proof that only lacks a nonce.
    let clockOffset: TimeInterval?

    /// Whether the reply says what another proof would have to be like.
    ///
    /// - Parameter offset: by which the refused proof took the server's clock to be ahead.
    func isWorthAnotherProof(after offset: TimeInterval) -> Bool {
        switch refusal {
        case nil: false
        case .nonce: nonce != nil
        case .proof: nonce != nil || isOff(from: offset)
        }
    }

    /// Whether the server's clock is not where it was taken to be.
    func isOff(from offset: TimeInterval) -> Bool {
        clockOffset.map { abs($0 - offset) >= Self.smallestOffset } ?? false
    }

    /// - Parameter body: is looked at after a refusal only.
    init(status: Int, body: Data?, at received: Date, _ field: (String) -> String?) {
        nonce = field("DPoP-Nonce").flatMap { nonce in
            let isNonce =
                !nonce.isEmpty && nonce.utf8.count <= Self.longestNonce
                && nonce.utf8.allSatisfy(Self.nonceCharacters.contains)
            return isNonce ? nonce : nil
        }
        // 400 at the token endpoint and 401 at a resource, says the RFC; servers do not agree.
        guard status == 400 || status == 401 else {
            (refusal, clockOffset) = (nil, nil)
            return
        }
        var errors = field("WWW-Authenticate").map(BearerChallenge.errors) ?? []
        if let body, let error = JSONMembers(of: body)?["error"]?.shown { errors.append(error) }
        refusal =
            if errors.contains("use_dpop_nonce") {
                .nonce
            } else {
                errors.contains("invalid_dpop_proof") ? .proof : nil
            }
        clockOffset =
            refusal != .proof ? nil : field("Date").flatMap { RetryAfter.date($0) }?.timeIntervalSince(received)
    }
}
