extension Rule {
    /// What belongs to whom.
    static let sessions = [
        Rule("O1", "O2", must: "hand out nothing of a former session") { history in
            // The sessions that may have begun, and those that have surely begun.
            var (session, surely) = (0, 0)
            // The last session that a load, and a token, can belong to; the first one that a caller can belong to.
            var loads: [Int: Int] = [:]
            var tokens: [String: Int] = [:]
            var asked: [History.Call: Int] = [:]
            for entry in history.entries {
                switch entry {
                case .signsOut: session += 1
                case .signsIn(let token):
                    session += 1
                    tokens[token] = session
                case .signedOut: surely += 1
                case .signedIn(let token):
                    surely += 1
                    // A sign-out that has begun since then may have come before it.
                    tokens[token] = session
                case .loadStarts(let load): loads[load] = session
                case .loadAnswers(let load, let token?, _):
                    // What comes when its session is over belongs to no session.
                    let last = loads[load] ?? -1
                    tokens[token] = last >= surely ? last : -1
                case .asks(let call, _): asked[call] = surely
                case .answered(let call, .token(let token)):
                    let owner = tokens[token] ?? -1
                    if owner < asked[call] ?? 0 { return "\(call) was told \(token)" }
                default: break
                }
            }
            guard session > 0, let finalToken = history.finalToken, let token = finalToken else { return nil }
            return tokens[token] == session ? nil : "in the end it had \(token)"
        }
    ]
}
