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
        },

        Rule("O3", must: "answer signedOut after a sign-out, until the next sign-in") { history in
            var (isSignedOut, isSignedOutIfNobodySignsIn) = (false, false)
            var refused: Set<History.Call> = []
            for entry in history.entries {
                switch entry {
                case .signsOut: isSignedOutIfNobodySignsIn = true
                case .signedOut: isSignedOut = isSignedOutIfNobodySignsIn
                case .signsIn:
                    (isSignedOut, isSignedOutIfNobodySignsIn) = (false, false)
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
            // A sign-out beside the sign-in may come after it.
            var (hasToken, isAlone, signOuts) = (false, false, 0)
            for entry in history.entries {
                switch entry {
                case .signsIn: isAlone = signOuts == 0
                case .signedIn: hasToken = isAlone
                case .signsOut:
                    signOuts += 1
                    (hasToken, isAlone) = (false, false)
                case .signedOut: signOuts -= 1
                case .rejects: hasToken = false
                default: break
                }
            }
            return hasToken && finalToken == nil ? "it had none" : nil
        },
    ]
}
