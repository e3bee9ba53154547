extension Rule {
    /// How many loads there are, and why.
    static let loads = [
        Rule("S1", "S2", "I2", "I3", "F2", must: "start no load without a reason of its own") { history in
            var (loads, failures, deadlines) = (0, 0, 0)
            var rejected: Set<String> = []
            for entry in history.entries {
                switch entry {
                case .loadAnswers(_, nil, _): failures += 1
                case .rejects(let token): rejected.insert(token)
                case .deadlinePasses: deadlines += 1
                case .loadStarts(let load):
                    loads += 1
                    // A sign-in brings a token: no session is a reason.
                    let reasons = 1 + failures + rejected.count + deadlines
                    if loads > reasons { return "load \(load) started for \(reasons) reasons in all" }
                default: break
                }
            }
            return nil
        },

        Rule("S1", "S3", must: "have one load in flight, and besides only those that lost the slot") { history in
            var (flying, lostTheSlot) = (0, 0)
            for entry in history.entries {
                switch entry {
                case .loadStarts(let load):
                    flying += 1
                    if flying > 1 + lostTheSlot { return "load \(load) made it \(flying)" }
                case .loadAnswers: flying -= 1
                case .signsOut, .signsIn, .deadlinePasses: lostTheSlot += 1
                default: break
                }
            }
            return nil
        },

        Rule("X2", must: "never cancel a load, but at sign-out") { history in
            for case .loadAnswers(let load, _, true) in history.entries.prefix(while: { $0 != .signsOut }) {
                return "load \(load) was cancelled"
            }
            return nil
        },

        Rule("X3", must: "start no load for callers that were cancelled before") { history in
            var (callers, loads) = (0, 0)
            for entry in history.entries {
                switch entry {
                case .asks(_, let isCancelled): callers += isCancelled ? 0 : 1
                case .loadStarts(let load):
                    loads += 1
                    if loads > callers { return "load \(load) started for nobody" }
                default: break
                }
            }
            return nil
        },

        Rule("X2", "S3", "T2", must: "keep the newest token that any load brought") { history in
            guard let finalToken = history.finalToken else { return nil }
            var newest: (load: Int, token: String)?
            for entry in history.entries {
                switch entry {
                case .loadAnswers(let load, let token?, _) where load > newest?.load ?? 0: newest = (load, token)
                // Then it is for the rules on sessions and rejections to say.
                case .signsIn, .signsOut, .rejects: return nil
                default: break
                }
            }
            return finalToken == newest?.token ? nil : "in the end it had \(finalToken ?? "none")"
        },
    ]
}
