import Foundation

/// Makes the proofs of one request, and decides whether a refused proof is worth another one: once for each of the two
/// refusals.
///
/// | the server says | and the reply has | the request is sent again |
/// | --- | --- | --- |
/// | `use_dpop_nonce` | a nonce | with that nonce |
/// | `invalid_dpop_proof` | a nonce | with that nonce |
/// | `invalid_dpop_proof` | a `Date` that is far from the proof's time | with the time by the server's clock |
/// | `invalid_dpop_proof` | neither | if it may be sent twice: the system itself may have sent the first proof twice |
///
/// A server looks at the proof before it does anything else: the request was not carried out, and the refresh token in
/// it is not spent (RFC 9449, section 8).
struct Prover: Sendable {
    let key: ProofKey
    let memory: ProofMemory
    /// The nonce of a challenge, in place of the last one of the server: it may be good for one request.
    private var challenge: String?
    /// For what the request was sent again.
    private var refusals: Set<ProofReply.Refusal> = []

    init(key: ProofKey, memory: ProofMemory) {
        self.key = key
        self.memory = memory
    }

    /// A proof for one sending of the request.
    func attempt(for method: String, _ url: URL, token: String? = nil, at now: Date) throws -> Attempt {
        let known = memory[url]
        let proof = try Proof.text(
            by: key,
            for: method,
            url,
            token: token,
            nonce: challenge ?? known.nonce,
            at: now.addingTimeInterval(known.clockOffset)
        )
        return Attempt(proof: proof, prover: self, url: url, clockOffset: known.clockOffset)
    }

    /// For the next hop of a redirect, which has proofs and repeats of its own.
    var anew: Prover { Prover(key: key, memory: memory) }

    /// A proof that was made, and what it took for true.
    struct Attempt: Sendable {
        let proof: String
        fileprivate let prover: Prover
        fileprivate let url: URL
        fileprivate let clockOffset: TimeInterval

        /// Learns of the reply what the next proofs need.
        ///
        /// - Parameter mayRepeat: whether the request may be sent twice without a reason that the server has named.
        /// - Returns: what makes the proof with which to send the request again; `nil` if the reply is the answer.
        func next(after reply: ProofReply, mayRepeat: Bool = false) -> Prover? {
            let isRepeat = reply.refusal.map(prover.refusals.contains) ?? false
            prover.memory.learn(from: reply, url, after: clockOffset, isRepeat: isRepeat)
            let isWorthIt = reply.isWorthAnotherProof(after: clockOffset) || (mayRepeat && reply.refusal == .proof)
            guard let refusal = reply.refusal, isWorthIt, !isRepeat else { return nil }
            var next = prover
            next.refusals.insert(refusal)
            next.challenge = reply.nonce
            return next
        }
    }
}

extension ProofMemory {
    /// - Parameters:
    ///   - offset: by which the proof that was sent took the server's clock to be ahead.
    ///   - isRepeat: whether that proof had the server's time already.
    func learn(from reply: ProofReply, _ url: URL, after offset: TimeInterval, isRepeat: Bool = false) {
        guard reply.nonce != nil || reply.refusal == .proof else { return }
        keep(url) { entry in
            if let nonce = reply.nonce { entry.nonce = nonce }
            if let clockOffset = reply.clockOffset, reply.isOff(from: offset) {
                entry.clockOffset = clockOffset
            } else if isRepeat, reply.refusal == .proof {
                // The server's own time has not helped: its `Date` is wrong, or the time is not what it minds.
                entry.clockOffset = 0
            }
        }
    }
}
