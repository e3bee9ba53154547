/// What a set-up has come to after all of its rounds.
struct SetUpResult: Sendable {
    let name: SetUpName
    let rounds: Int
    /// Callers of all rounds together.
    let callers: Int
    /// Requests that the token endpoint counted.
    let loads: Int
    /// Those among them that presented a spent refresh token, or, where only the client counts, were refused.
    let reuses: Int
    let signIns: Int
    let sessionsLost: Int
    let served: Int
    /// Callers who were never told anything.
    let unanswered: Int
    /// Why callers were not served, and how many of them.
    var reasons: [String: Int] = [:]
    let wallTime: Duration
    /// What happened in the last round.
    let lastRound: [Moment]

    /// Whether the set-up did what a service is for.
    var isGood: Bool {
        sessionsLost == 0 && served == callers
    }
}
