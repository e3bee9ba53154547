extension Rule {
    /// What belongs to whom.
    static let sessions = [
        Rule("O1", "O2", must: "hand out nothing of a former session") { history in
            var session = 0
            var loads: [Int: Int] = [:]
            var tokens: [String: Int] = [:]
            var asked: [History.Call: Int] = [:]
            for entry in history.entries {
                switch entry {
                case .signsOut: session += 1
                case .signsIn(let token):
                    session += 1
                    tokens[token] = session
                case .loadStarts(let load): loads[load] = session
                case .loadAnswers(let load, let token?, _):
                    // What comes when its session is over belongs to nobody.
                    tokens[token] = loads[load] == session ? session : -1
                case .asks(let call, _): asked[call] = session
                case .answered(let call, .token(let token)):
                    let owner = tokens[token] ?? -1
                    if owner < asked[call] ?? 0 { return "\(call) was told \(token)" }
                default: break
                }
            }
            guard session > 0, let finalToken = history.finalToken, let token = finalToken else { return nil }
            return tokens[token] == session ? nil : "in the end it had \(token)"
        },

        Rule("O3", must: "answer signedOut after a sign-out, until the next sign-in") { history in
            var isSignedOut = false
            var refused: Set<History.Call> = []
            for entry in history.entries {
                switch entry {
                case .signsOut: isSignedOut = true
                case .signsIn:
                    isSignedOut = false
                    // The service may have seen them only now.
                    refused = []
                case .asks(let call, _) where isSignedOut: refused.insert(call)
                case .answered(let call, let answer)
                where refused.contains(call) && answer != .signedOut && answer != .cancelled:
                    return "\(call) was told \(answer)"
                default: break
                }
            }
            return nil
        },

        Rule("O2", must: "have the last session's token in the end") { history in
            guard let finalToken = history.finalToken else { return nil }
            var hasToken = false
            for entry in history.entries {
                switch entry {
                case .signsIn: hasToken = true
                case .signsOut, .rejects: hasToken = false
                default: break
                }
            }
            return hasToken && finalToken == nil ? "it had none" : nil
        },
    ]
}
