#if os(macOS) || os(Linux)
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestKeys
import Testing

@testable import AccessTokenOAuth

/// Processes that share a credential, and of which one after the other is killed, while others are stopped and go on,
/// at a server that is slow at times.
struct Massacre {
    /// Seconds that a caller waits for a reply; and for longer than that a process is stopped, and a reply takes.
    private static let deadline = 1.0
    private static let hitch = 2.0

    /// Processes at a time, and callers in each.
    ///
    /// Eight processes keep every processor busy until the last kill; that pays only where there are many kills.
    private var crowd: (processes: Int, callers: Int) { (processes: isLong ? 8 : 3, callers: 8) }
    private var isLong: Bool { kills >= 100 }

    /// How the workers open the store, and the tests.
    let place: [String: String]
    let store: any CredentialStore
    /// Seconds in which the server forgives the use of a spent token.
    let grace: TimeInterval
    /// The run ends when so many were killed, and so many tokens were exchanged since.
    let kills: Int
    /// Whether the session is bound to a key, at a server whose nonces are soon replaced.
    var isBound = false

    struct Outcome {
        var kills = 0
        /// Those among them who died inside.
        var killsInside = 0
        var exchanges = 0
        var reuses = 0
        var sessionsLost = 0
        /// Reuses of a token with which no process died inside.
        var unexplained: [String] = []
        var record: CredentialRecord?
    }

    /// A token is spent twice only if a process died with it between sending and saving; with a grace, no session is
    /// lost.
    func losesOnlyWhatIsExplained() async throws {
        let outcome = try await run()
        #expect(outcome.unexplained == [])
        guard grace > 0 else { return }
        #expect(outcome.reuses == 0)
        #expect(outcome.sessionsLost == 0)
        #expect(outcome.record != nil)
    }

    private func run() async throws -> Outcome {
        let reused = Locked<[TokenName]>([])
        let server = try RotatingAuthorizationServer(
            grace: grace,
            latency: 0.01,
            proofs: isBound ? ProofDemand(nonceUses: 3) : nil
        ) { event in
            if case .reuseDetected(let name) = event { reused.withLock { $0.append(name) } }
        }
        defer { server.stop() }
        var family = try await signIn(to: server)
        var workers = try (0..<crowd.processes).map { _ in try worker(for: server) }
        var dead: [String] = []
        var outcome = Outcome()
        var stopped: (worker: Worker, end: ContinuousClock.Instant)?
        let end = ContinuousClock.now + .seconds(Double(kills) * 2 + 400)
        while outcome.kills < kills || server.tally.tokenRequests < kills {
            guard ContinuousClock.now < end else { throw Worker.Silence(what: "no \(kills) kills and exchanges") }
            // Not a wait for anything: a death at any moment.
            try await Task.sleep(for: .milliseconds(.random(in: 5...40)))
            if let last = stopped, .now > last.end {
                last.worker.send(SIGCONT)
                stopped = nil
            }
            if stopped == nil, Int.random(in: 0..<12) == 0, let worker = workers.randomElement() {
                worker.send(SIGSTOP)
                stopped = (worker, .now + .seconds(Self.hitch))
            }
            if Int.random(in: 0..<24) == 0 { server.fail(.slow(Self.hitch)) }
            if outcome.kills < kills {
                let victim = Int.random(in: workers.indices)
                try await workers[victim].end()
                outcome.kills += 1
                if let token = workers[victim].tokenInside { dead.append(token) }
                workers[victim] = try worker(for: server)
            }
            if server.isRevoked(family: family) {
                outcome.sessionsLost += 1
                // Whoever is stopped may be inside, where the sign-in has to get, and goes on by this loop alone.
                stopped?.worker.send(SIGCONT)
                stopped = nil
                family = try await signIn(to: server)
            }
        }
        for worker in workers {
            try await worker.end()
            if let token = worker.tokenInside { dead.append(token) }
        }
        outcome.killsInside = dead.count
        outcome.exchanges = server.tally.tokenRequests
        outcome.reuses = server.tally.reuses
        let explained = Set(dead.compactMap(server.name))
        outcome.unexplained = reused.withLock { $0 }.filter { !explained.contains($0) }.map(\.description)
        outcome.record = try await store.load()
        print("Killed, grace \(grace) s: \(outcome)")
        #expect(outcome.kills == kills)
        // Of many most die outside. If all seemed to have died inside, each reuse would be explained.
        if isLong { #expect(outcome.killsInside * 4 <= kills * 3) }
        return outcome
    }

    private func worker(for server: RotatingAuthorizationServer) throws -> Worker {
        var options = [
            "endpoint": server.tokenEndpoint.absoluteString, "callers": "\(crowd.callers)",
            "deadline": "\(Self.deadline)",
        ]
        if isBound { options["keys"] = "own" }
        return try Worker("share", place, options)
    }

    private func signIn(to server: RotatingAuthorizationServer) async throws -> Int {
        let pair = server.signIn()
        var response = TokenResponse(accessToken: AccessToken(value: "none yet", expiration: .distantPast))
            .withRefreshToken(pair.refreshToken)
        if isBound { response = response.bound(to: try ProofKeys.ofThisMachine.make()) }
        let credential = Credential(response)
        try await store.update { _ in .replace(credential) }
        return pair.refreshName.family
    }
}
#endif
