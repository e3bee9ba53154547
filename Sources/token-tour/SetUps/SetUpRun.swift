import AccessTokenGCD
import Foundation

/// Runs the rounds of one set-up.
struct SetUpRun: Sendable {
    /// Seconds after which a round is closed: more than two loads and two requests may take, deadlines included.
    private static let roundLimit = 180.0

    let name: SetUpName
    let rounds: Int
    let callers: Int
    let makeServer: @Sendable (RoundRecorder) throws -> any TourServer

    /// - Throws: `SocketError` if there is no server to be had, `CancellationError` between two rounds.
    func run(onRound: (Int) -> Void) async throws -> SetUpResult {
        let recorder = RoundRecorder()
        let server = try makeServer(recorder)
        defer { server.stop() }
        let subject = name.subject(on: server, recorder: recorder)
        let crowd = subject.crowd(of: callers, resource: ResourceClient(resource: server.resource)) { lane in
            CallerLog(lane: lane, recorder: recorder) { server.name(of: $0) }
        }

        var total = RollCall.Outcome(unanswered: 0)
        var wallTime = Duration.zero
        var completed = 0
        for round in 1...rounds {
            try Task.checkCancellation()
            onRound(round)
            guard try await server.beginRound(of: subject) else { break }
            recorder.begin()
            wallTime += await ContinuousClock().measure {
                total += await crowd.call(within: Self.roundLimit)
            }
            completed = round
        }
        let tally = await server.tally()
        return SetUpResult(
            name: name,
            rounds: completed,
            callers: callers * completed,
            loads: tally.loads,
            reuses: tally.reuses,
            signIns: tally.signIns,
            sessionsLost: tally.sessionsLost,
            served: total.served,
            unanswered: total.unanswered,
            reasons: total.reasons,
            wallTime: wallTime,
            lastRound: recorder.moments
        )
    }
}
