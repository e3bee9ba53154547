import AccessTokenOAuth
import Dispatch
import LoopbackAuthorizationServer

/// Something that the tour tries, with the name that the table gives it.
protocol TourSetUp: Sendable {
    var rawValue: String { get }
    /// Whether it is a service of this package, which must not lose a session.
    var isOurs: Bool { get }
}

/// Runs the rounds of one set-up in this process.
struct SetUpRun: Sendable {
    let setUp: SetUp
    let rounds: Int
    let callers: Int
    var latency = TourServer.latency

    /// - Throws: `SocketError` if the server gets no socket.
    func run(onRound: (Int) -> Void) async throws -> SetUpResult {
        let server = try TourServer(latency: latency)
        defer { server.stop() }
        let subject = setUp.subject(on: server)
        let callers = subject.callers(callers, ResourceClient(resource: server.resource))
        return try await SetUpResult(setUp, rounds, on: server, onRound: onRound, signIn: subject.signIn) {
            await RollCall.outcome(of: callers)
        }
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
    let sessionsLost: Int
    /// The callers of all rounds together.
    let callers: RollCall.Outcome
    let seconds: Double
    /// What the server saw in the last round.
    var lastRound: [AuthorizationServerEvent] = []

    /// Whether the set-up did what a service is for.
    var isGood: Bool {
        sessionsLost == 0 && callers.served == callers.count
    }
}

extension SetUpResult {
    /// Runs the rounds.
    ///
    /// - Parameters:
    ///   - signIn: stores a new session's credential where the set-up keeps it.
    ///   - call: lets the callers of a round call.
    init(
        _ setUp: any TourSetUp,
        _ rounds: Int,
        on server: TourServer,
        onRound: (Int) -> Void,
        signIn: (AccessToken, Credential) async throws -> Void,
        call: () async -> RollCall.Outcome
    ) async throws {
        var callers = RollCall.Outcome()
        var seconds = 0.0
        for round in 1...rounds {
            onRound(round)
            try await server.beginRound(signIn)
            let start = DispatchTime.now().uptimeNanoseconds
            callers += await call()
            seconds += Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        }
        self.init(
            setUp: setUp,
            rounds: rounds,
            loads: server.tally.tokenRequests,
            reuses: server.tally.reuses,
            sessionsLost: server.tally.revokedFamilies,
            callers: callers,
            seconds: seconds,
            lastRound: server.events
        )
    }
}
