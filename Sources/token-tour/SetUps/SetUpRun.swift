import AccessTokenGCD
import Foundation
import LoopbackAuthorizationServer

/// Runs the rounds of one set-up, against a server of its own.
struct SetUpRun: Sendable {
    /// Seconds that a token request takes, as with a server that signs tokens and writes them down.
    private static let serverLatency = 0.02

    /// Seconds after which a round is closed: more than any exchange may take, idle limits included.
    private static let roundLimit = 60.0

    let name: SetUpName
    let rounds: Int
    let callers: Int

    /// - Throws: `SocketError` if there is no server to be had, `CancellationError` between two rounds.
    func run(onRound: (Int) -> Void) async throws -> SetUpResult {
        let recorder = RoundRecorder()
        let server = try RotatingAuthorizationServer(latency: Self.serverLatency) { event in
            event.steps.forEach(recorder.record)
        }
        defer { server.stop() }
        let exchange = TokenExchange(
            tokenEndpoint: server.tokenEndpoint,
            clientID: RotatingAuthorizationServer.clientID
        )
        let subject = name.subject(loader: exchange, recorder: recorder)
        let crowd = subject.crowd(of: callers, resource: ResourceClient(resource: server.resource)) { lane in
            CallerLog(lane: lane, recorder: recorder) { value in
                server.name(of: value)?.description ?? "unknown"
            }
        }

        var session: Int?
        var total = RollCall.Outcome(unanswered: 0)
        var wallTime = Duration.zero
        for round in 1...rounds {
            try Task.checkCancellation()
            onRound(round)
            if session.map(server.isRevoked) ?? true {
                session = await signIn(to: server, exchange, subject)
            }
            server.expireAccessTokens()
            recorder.begin()
            wallTime += await ContinuousClock().measure {
                let outcome = await crowd.call(within: Self.roundLimit)
                total.served += outcome.served
                total.unanswered += outcome.unanswered
            }
        }
        let tally = server.tally
        return SetUpResult(
            name: name,
            rounds: rounds,
            callers: callers * rounds,
            loads: tally.tokenRequests,
            reuses: tally.reuses,
            signIns: tally.signIns,
            sessionsLost: tally.revokedFamilies,
            served: total.served,
            unanswered: total.unanswered,
            wallTime: wallTime,
            lastRound: recorder.moments
        )
    }

    /// A user signs in: server, loader and service all start with the same pair.
    private func signIn(
        to server: RotatingAuthorizationServer,
        _ exchange: TokenExchange,
        _ subject: Subject
    ) async -> Int {
        let pair = server.signIn()
        exchange.signIn(refreshToken: pair.refreshToken)
        let expiration = Date(timeIntervalSinceNow: TimeInterval(pair.lifetime))
        await subject.signIn(AccessToken(value: pair.accessToken, expiration: expiration))
        return pair.accessName.family
    }
}
