import AccessTokenAsync
import AccessTokenSynchronization
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The keys that a process has read", .takesTurns, .endsHangs)
struct KeyMemoryTests {
    private let stored = (0..<200).map { Data("key \($0)".utf8) }
    private let token = AccessToken(value: "A")

    /// Keys that are all the same one, whatever is stored, and count how often they are read.
    private func withCountedKeys(_ body: (ProofKeys, _ reads: () -> Int) async throws -> Void) async throws {
        let reads = Locked(0)
        let key = try ProofKeys.ofThisMachine.make()
        let keys = ProofKeys {
            key
        } read: { _ in
            reads.withLock { $0 += 1 }
            return key
        }
        try await body(keys) { reads.withLock { $0 } }
    }

    private func credential(_ key: ProofKey) -> Credential {
        Credential(TokenResponse(accessToken: token, refreshToken: "RT").bound(to: key))
    }

    @Test func `are read once, and again after the end of their session`() async throws {
        try await withCountedKeys { keys, reads in
            for _ in 0..<10 { _ = try keys.key(from: stored[0]) }
            #expect(reads() == 1)
            keys.forget(stored[0])
            _ = try keys.key(from: stored[0])
            #expect(reads() == 2)
        }
    }

    @Test func `are not kept of very many users`() async throws {
        try await withCountedKeys { keys, reads in
            for stored in stored { _ = try keys.key(from: stored) }
            for stored in stored { _ = try keys.key(from: stored) }
            #expect(reads() > 200)
        }
    }

    @Test func `are known of the last few tokens, and of none after a sign-out`() async throws {
        let (mine, others) = (try ProofKeys.ofThisMachine.make(), try ProofKeys.ofThisMachine.make())
        let store = MemoryCredentialStore(credential(others))
        let proofs = TokenProofs(of: store, .ofThisMachine, clock: SystemClock())
        proofs.learn(token, credential(mine))
        #expect(try await proofs.prover(for: token)?.key == mine)
        for number in 1...7 { proofs.learn(AccessToken(value: "A\(number)"), credential(others)) }
        #expect(try await proofs.prover(for: token)?.key == mine)
        proofs.learn(AccessToken(value: "A8"), credential(others))
        // It is looked up in the store.
        #expect(try await proofs.prover(for: token)?.key == others)
        let former = AccessToken(value: "A9")
        proofs.learn(former, credential(mine))
        proofs.forget()
        // The store has the next session: its key is that of its own token only.
        await #expect(throws: AccessTokenError.signedOut) { try await proofs.prover(for: former) }
        #expect(try await proofs.prover(for: token)?.key == others)
    }
}
