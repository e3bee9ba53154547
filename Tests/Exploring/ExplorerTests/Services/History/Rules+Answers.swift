extension Rule {
    static let all = answers + loads + sessions + order

    /// Whom is told what, and how often.
    static let answers = [
        Rule("D1", "D6", "S2", must: "answer every call exactly once") { history in
            var open: Set<History.Call> = []
            for entry in history.entries {
                switch entry {
                case .asks(let call, _):
                    open.insert(call)
                case .answered(let call, _):
                    if open.remove(call) == nil { return "\(call) was answered twice" }
                default:
                    break
                }
            }
            return open.isEmpty ? nil : "\(open.map(\.description).sorted().joined(separator: " and ")) had no answer"
        },

        Rule("F1", "O1", "T1", "X1", must: "tell a caller only what has happened") { history in
            var seen: Set<History.Answer> = []
            for entry in history.entries {
                switch entry {
                case .loadAnswers(_, let token?, _), .signsIn(let token): seen.insert(.token(token))
                case .loadAnswers(let load, nil, _): seen.insert(.error(ofLoad: load))
                case .signsOut: seen.insert(.signedOut)
                case .deadlinePasses: seen.insert(.timedOut)
                case .answered(let call, .cancelled) where history.cancelledCallers.contains(call.caller): break
                case .answered(let call, let answer) where !seen.contains(answer): return "\(call) was told \(answer)"
                default: break
                }
            }
            return nil
        },

        Rule("F2", must: "load again after an error") { history in
            var known: Set<History.Answer> = []
            var stale: [History.Call: Set<History.Answer>] = [:]
            for entry in history.entries {
                switch entry {
                case .asks(let call, _):
                    stale[call] = known
                case .answered(let call, let answer):
                    if stale[call]?.contains(answer) == true { return "\(call) was told what others were told before" }
                    if case .error = answer { known.insert(answer) }
                default:
                    break
                }
            }
            return nil
        },

        Rule("D2", must: "answer the waiters of one load in the order in which they came") { history in
            guard history.isByHandlers else { return nil }
            var position: [History.Call: Int] = [:]
            var last: [History.Answer: Int] = [:]
            for (index, entry) in history.entries.enumerated() {
                switch entry {
                case .asks(let call, _):
                    position[call] = index
                case .answered(let call, let answer):
                    let place = position[call] ?? index
                    if answer != .cancelled, place < last[answer] ?? 0 { return "\(call) came before" }
                    last[answer] = place
                default:
                    break
                }
            }
            return nil
        },
    ]
}
