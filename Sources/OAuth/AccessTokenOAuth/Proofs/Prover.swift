import AccessTokenSynchronization
import Foundation

/// Makes the proofs of one request, and decides whether a refused proof is worth another one: once for each of the two
/// refusals.
///
/// | the server says | and | the request is sent again |
/// | --- | --- | --- |
/// | `use_dpop_nonce` | the reply has a nonce | with that nonce |
/// | `invalid_dpop_proof` | the reply has a nonce | with that nonce |
/// | `invalid_dpop_proof` | the reply has a `Date` that is far from the proof's time | with the time by the server's clock |
/// | `invalid_dpop_proof` | neither | if it may be sent twice: the system itself may have sent the first proof twice |
/// | `use_dpop_nonce` to the nonce that it had just named | other requests were on their way | from the beginning, when it is its turn to go alone |
///
/// A server looks at the proof before it does anything else: the request was not carried out, and the refresh token in
/// it is not spent (RFC 9449, section 8).
struct Prover: Sendable {
    let key: ProofKey
    let memory: ProofMemory
    /// A request that is sent again for its proof keeps it.
    private var turn: ProofOrigin.Turn?
    /// The nonce of a challenge, in place of the last one of the server: it may be good for one request.
    private var challenge: String?
    /// For what the request was sent again.
    private var refusals: Set<ProofReply.Refusal> = []

    init(key: ProofKey, memory: ProofMemory) {
        self.key = key
        self.memory = memory
    }

    /// Waits until the request may be sent; see ``ProofOrigin/turn(atMost:by:)``.
    func inTurn(at url: URL, atMost limit: TimeInterval? = nil, by clock: any AccessTokenClock) async throws -> Prover {
        guard turn == nil else { return self }
        var prover = self
        prover.turn = try await memory[url].turn(atMost: limit, by: clock)
        return prover
    }

    /// A proof for one sending of the request.
    func attempt(for method: String, _ url: URL, token: String? = nil, at now: Date) throws -> Attempt {
        let origin = turn?.origin ?? memory[url]
        let known = origin.known
        let proof = try Proof.text(
            by: key,
            for: method,
            url,
            token: token,
            nonce: challenge ?? known.nonce,
            at: now.addingTimeInterval(known.clockOffset)
        )
        return Attempt(proof: proof, prover: self, origin: origin, clockOffset: known.clockOffset)
    }

    /// The request is not sent, and others may go in its place.
    func leave() { turn?.end(.other) }

    /// For the next hop of a redirect, which has proofs, repeats and a turn of its own.
    var anew: Prover { Prover(key: key, memory: memory) }

    /// A proof that was made, and what it took for true.
    struct Attempt: Sendable {
        let proof: String
        fileprivate let prover: Prover
        fileprivate let origin: ProofOrigin
        fileprivate let clockOffset: TimeInterval

        /// Learns of the reply what the next proofs need; to be called once, since it ends the request's turn.
        ///
        /// - Parameters:
        ///   - reply: `nil` if none came.
        ///   - mayRepeat: whether the request may be sent twice without a reason that the server has named.
        ///   - isLast: whether the request cannot be sent again, whatever the server says.
        /// - Returns: what makes the proof with which to send the request again; `nil` if the reply is the answer.
        func next(after reply: ProofReply?, mayRepeat: Bool = false, isLast: Bool = false) -> Prover? {
            guard let reply else { return over(.other) }
            let isRepeat = reply.refusal.map(prover.refusals.contains) ?? false
            origin.learn(from: reply, after: clockOffset, isRepeat: isRepeat)
            guard let refusal = reply.refusal else { return over(.taken) }
            let isWorthIt = reply.isWorthAnotherProof(after: clockOffset) || (mayRepeat && refusal == .proof)
            guard isWorthIt, !isLast else { return over(.other) }
            guard isRepeat else {
                var next = prover
                next.refusals.insert(refusal)
                next.challenge = reply.nonce
                return next
            }
            guard refusal == .nonce, prover.turn?.isCrowded == true else { return over(.other) }
            _ = over(.contested)
            return prover.anew
        }

        private func over(_ end: ProofWindow.End) -> Prover? {
            prover.turn?.end(end)
            return nil
        }
    }
}

extension ProofOrigin {
    /// - Parameters:
    ///   - offset: by which the proof that was sent took the server's clock to be ahead.
    ///   - isRepeat: whether that proof had the server's time already.
    func learn(from reply: ProofReply, after offset: TimeInterval, isRepeat: Bool = false) {
        guard reply.nonce != nil || reply.refusal == .proof else { return }
        keep { known in
            if let nonce = reply.nonce { known.nonce = nonce }
            if let clockOffset = reply.clockOffset, reply.isOff(from: offset) {
                known.clockOffset = clockOffset
            } else if isRepeat, reply.refusal == .proof {
                // The server's own time has not helped: its `Date` is wrong, or the time is not what it minds.
                known.clockOffset = 0
            }
        }
    }
}
