/// Scripts that bring a service into each of some situations, do each of some things to it there, and see what it does
/// then: the same for each seed.
///
/// Most bugs that a clause's own situation does not show need two things at once.
enum ScriptGrid {
    /// The situations: what is cached, what is running, which session it is.
    private static let openings: [(setting: Script.Setting, steps: [Step])] = [
        (.plain, [.call]),
        (.plain, [.call, .call]),
        (.plain, [.call, .answer(.token)]),
        (.plain, [.call, .answer(.failure)]),
        (.plain, [.call, .answer(.permanentFailure)]),
        (.plain, [.call, .answer(.token), .pass(.life), .call]),
        (.plain, [.call, .answer(.token), .reject(.current), .call]),
        (.plain, [.call, .answer(.token), .reject(.current), .call, .answer(.token)]),
        (.plain, [.call, .answer(.token), .reject(.current), .call, .answer(.token), .reject(.current), .call]),
        (.plain, [.call, .answer(.token), .refresh]),
        (.plain, [.call, .answer(.token), .refresh, .answer(.token), .refresh]),
        (.plain, [.call, .answer(.token), .signOut]),
        (.plain, [.call, .signOut]),
        (.plain, [.call, .signOut, .signIn(.valid), .refresh]),
        (.plain, [.call, .signOut, .signIn(.valid), .reject(.current), .call]),
        (.plain, [.call, .signIn(.valid)]),
        (.plain, [.call, .answer(.permanentFailure), .signOut, .signIn(.valid)]),
        (.ahead, [.call, .answer(.token), .pass(.freshness), .call]),
        (.ahead, [.call, .answer(.token), .pass(.freshness), .call, .pass(.life), .call]),
        (.deadline, [.call, .pass(.elevenSeconds)]),
        (.deadline, [.call, .pass(.elevenSeconds), .call]),
        (.deadline, [.call, .pass(.elevenSeconds), .call, .answer(.token)]),
    ]

    /// What is done then.
    private static let events: [Step] = [
        .refresh, .call(then: .reject), .cancel(.first), .cancel(.last), .reject(.current), .reject(.former),
        .signIn(.valid), .signIn(.expired), .signOut, .answerAmidCalls, .again(.token), .again(.failure),
        .callRightAfter(.signOut), .callRightAfter(.signIn), .callRightAfter(.reject), .crowd(rejecting: true),
        .pass(.freshness), .pass(.elevenSeconds), .pass(.life),
    ]

    /// What a load may answer then, if one is open.
    private static let answers: [Step] = [
        .answer(.failure), .answer(.permanentFailure), .answer(.cancellation), .answer(.expiredToken),
        .answer(.sameToken), .answer(.endlessToken), .answer(.permanentFailure, from: .oldest),
        .answer(.expiredToken, from: .oldest), .answer(.token, from: .oldest),
    ]

    /// Everybody is answered, the token is rejected once, and expires.
    private static let closing: [Step] = [
        .call, .answer(.token), .answer(.token), .call, .reject(.current), .call, .answer(.token), .pass(.life), .call,
    ]

    /// A script of the grid; if the service cannot do its event where it stands, the script ends there.
    struct Entry: Sendable {
        let script: Script
        let event: Int
    }

    /// All entries that the subject can take part in; if fewer random scripts are wanted than by default, as large a
    /// share of them.
    static func entries(for features: ContractFeatures, atMost scripts: Int) -> [Entry] {
        let settings = Script.Setting.possible(for: features)
        var all: [Entry] = []
        for (setting, steps) in openings {
            guard settings.contains(setting), steps.allSatisfy({ $0.isPossible(for: features) }) else { continue }
            for event in events + answers
            where event.isPossible(for: features) && event.makesSense(with: setting.policy) {
                all.append(Entry(script: Script(setting, steps + [event] + closing), event: steps.count))
            }
        }
        guard scripts < ServiceContract.defaultScripts else { return all }
        return all.indices.filter { $0 * scripts % ServiceContract.defaultScripts < scripts }.map { all[$0] }
    }
}
