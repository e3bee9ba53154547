import AccessTokenOAuth
import Dispatch
import LoopbackAuthorizationServer

/// Something that the tour tries, with the name that the table gives it.
protocol TourSetUp: Sendable {
    var rawValue: String { get }
    /// Whether it is a service of this package, which must not lose a session.
    var isOurs: Bool { get }
    /// A line for the help text.
    var summary: String { get }

    /// Runs its rounds.
    ///
    /// - Throws: `SocketError` if the server gets no socket, `CredentialStoreError`, `FolderError`.
    func run(_ options: Options, onRound: (Int) -> Void) async throws -> SetUpResult
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
    /// The requests among them that the server refused by 429; `nil` if it has no limit.
    var limited: Int?
    /// The callers of all rounds together.
    let callers: RoundOutcome
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
    ///   - store: where the set-up keeps its credential.
    ///   - signIn: gives the set-up the first token of a session.
    ///   - call: lets the callers of a round call.
    init(
        _ setUp: any TourSetUp,
        _ rounds: Int,
        on server: TourServer,
        _ store: any CredentialStore,
        _ signIn: (AccessToken) async -> Void = { _ in },
        onRound: (Int) -> Void,
        call: () async -> RoundOutcome
    ) async throws {
        var callers = RoundOutcome()
        var seconds = 0.0
        var limited = 0
        for round in 1...rounds {
            onRound(round)
            try await server.beginRound(store, signIn)
            let start = DispatchTime.now().uptimeNanoseconds
            callers += await call()
            seconds += Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            limited += server.events.count { $0 == .requestRejected(status: 429) }
        }
        self.init(
            setUp: setUp,
            rounds: rounds,
            loads: server.tally.tokenRequests,
            reuses: server.tally.reuses,
            sessionsLost: server.tally.revokedFamilies,
            limited: server.limit == nil ? nil : limited,
            callers: callers,
            seconds: seconds,
            lastRound: server.events
        )
    }
}
