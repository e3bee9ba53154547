/// What was counted of a set-up where it met its server.
struct ServerTally: Hashable, Sendable {
    /// Requests for a token.
    var loads = 0
    /// Those among them that presented a spent refresh token; all that a client can tell is that they were refused.
    var reuses = 0
    var signIns = 0
    var sessionsLost = 0
}
