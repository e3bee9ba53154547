import Foundation
import LoopbackAuthorizationServer

/// Runs the rounds of one set-up.
struct SetUpRun: Sendable {
    /// Seconds after which a round is closed: more than two loads and two requests may take, deadlines included.
    static let roundLimit = 180.0

    let setUp: SetUp
    let rounds: Int
    let callers: Int
    var latency = TourServer.latency

    /// - Throws: `SocketError` if the server gets no socket, `CancellationError` between two rounds.
    func run(onRound: (Int) -> Void) async throws -> SetUpResult {
        let recorder = RoundRecorder()
        let server = try TourServer(recorder: recorder, latency: latency)
        defer { server.stop() }
        let subject = setUp.subject(on: server, recorder: recorder)
        let crowd = subject.crowd(of: callers, resource: ResourceClient(resource: server.resource)) { lane in
            CallerLog(lane: lane, recorder: recorder) { server.name(of: $0) }
        }

        var outcome = RollCall.Outcome()
        var wallTime = Duration.zero
        for round in 1...rounds {
            try Task.checkCancellation()
            onRound(round)
            try await server.beginRound { try await subject.signIn($0, refreshToken: $1) }
            recorder.begin()
            wallTime += await ContinuousClock().measure {
                outcome += await crowd.call(within: Self.roundLimit)
            }
        }
        return SetUpResult(
            setUp,
            rounds,
            of: server.tally,
            callers: outcome,
            wallTime: wallTime,
            lastRound: recorder.moments
        )
    }
}

/// The outcome of all rounds of a set-up.
struct SetUpResult: Sendable {
    let setUp: any TourSetUp
    let rounds: Int
    /// Requests at the token endpoint.
    let loads: Int
    /// The requests among them that presented a spent refresh token.
    let reuses: Int
    let signIns: Int
    let sessionsLost: Int
    /// The callers of all rounds together.
    let callers: RollCall.Outcome
    let wallTime: Duration
    /// What happened in the last round.
    let lastRound: [RoundRecorder.Moment]

    /// Whether the set-up did what a service is for.
    var isGood: Bool {
        sessionsLost == 0 && callers.served == callers.count
    }
}

extension SetUpResult {
    /// - Parameter tally: what the server counted.
    init(
        _ setUp: any TourSetUp,
        _ rounds: Int,
        of tally: AuthorizationServerTally,
        callers: RollCall.Outcome,
        wallTime: Duration,
        lastRound: [RoundRecorder.Moment] = []
    ) {
        self.setUp = setUp
        self.rounds = rounds
        loads = tally.tokenRequests
        reuses = tally.reuses
        signIns = tally.signIns
        sessionsLost = tally.revokedFamilies
        self.callers = callers
        self.wallTime = wallTime
        self.lastRound = lastRound
    }
}
