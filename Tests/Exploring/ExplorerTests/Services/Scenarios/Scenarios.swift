extension ContractScenario {
    /// Small scenarios: between them they have every clause that depends on interleaving, and each can be exhausted.
    static let all = callers + failures + cancellations + rejections + sessions + deadlines + departures

    static let callers: [ContractScenario] = [
        .init("two callers", ["S1", "S2", "D1", "D2"], [.ask], [.ask]),
        .init("three callers", ["S1", "S2", "D1", "D2"], [.ask], [.ask], [.ask]),
        .init("four callers", ["S1", "S2", "D1", "D2"], [.ask], [.ask], [.ask], [.ask]),
        .init("two callers, one of whom asks again", ["S1", "D5"], [.ask, .ask], [.ask]),
    ]

    static let failures: [ContractScenario] = [
        .init("two callers and an error", ["F1", "D1"], [.ask], [.ask], loads: [.failure, .token]),
        .init("an error, and asking again", ["F2", "D5"], [.ask, .ask], loads: [.failure, .token]),
        .init(
            "an error, and two who ask again",
            ["F1", "F2", "D5"],
            [.ask, .ask],
            [.ask, .ask],
            loads: [.failure, .token]
        ),
        .init("errors only", ["F1", "F2"], [.ask, .ask], [.ask], loads: [.failure]),
    ]

    static let cancellations: [ContractScenario] = [
        .init("a caller that is cancelled", ["X1", "X2", "X3"], [.ask], cancelled: [0]),
        .init("two callers, one of them cancelled", ["X1", "X2", "D1"], [.ask], [.ask], cancelled: [0]),
        .init("two callers, both cancelled", ["X1", "X2", "X3"], [.ask], [.ask], cancelled: [0, 1]),
        .init("a cancelled caller of a silent load", ["X1"], [.ask], cancelled: [0], loads: [.silence]),
        .init(
            "an error for a caller and a cancelled one",
            ["X1", "F1", "D1"],
            [.ask],
            [.ask],
            cancelled: [1],
            loads: [.failure, .token]
        ),
    ]

    static let rejections: [ContractScenario] = [
        .init("a rejection", ["I1"], [.ask, .reject, .ask]),
        .init("a rejection beside a caller", ["I1", "I2", "S3"], [.ask, .reject, .ask], [.ask]),
        .init("a late rejection", ["I2", "S3"], [.ask, .reject, .ask], [.ask, .wait, .reject, .ask]),
        .init("two who reject the same", ["I2", "I3"], [.ask, .reject, .ask], [.ask, .reject]),
        .init(
            "two who reject the same and ask again",
            ["I1", "I2", "I3", "S3"],
            [.ask, .reject, .ask],
            [.ask, .reject, .ask]
        ),
    ]

    static let sessions: [ContractScenario] = [
        .init("sign-out during a load", ["O1"], [.ask], [.signOut]),
        // Sign-out is done when the load is over, or past its deadline.
        .init("sign-out during a silent load", ["O1"], [.ask], [.signOut], loads: [.silence], hasDeadline: true),
        .init("sign-out beside two callers", ["O1", "D1"], [.ask], [.ask], [.signOut]),
        .init("sign-out, and asking again", ["O1", "O3"], [.ask], [.signOut, .ask]),
        .init("sign-in during a load", ["O2"], [.ask], [.signIn("s1")]),
        .init("sign-out and sign-in", ["O1", "O2", "O3"], [.ask], [.signOut, .signIn("s1")]),
        .init("a session, and the next", ["O1", "O2"], [.ask], [.signOut, .signIn("s1"), .ask]),
        .init("sign-in beside a sign-out", ["O2", "O3"], [.ask], [.signOut], [.signIn("s1")]),
        .init("sign-out beside a rejection", ["O1", "I1", "S3"], [.ask, .reject, .ask], [.signOut]),
        .init("sign-out beside an error", ["O1", "F1"], [.ask, .ask], [.signOut], loads: [.failure]),
    ]

    static let deadlines: [ContractScenario] = [
        .init("a deadline", ["T1", "T2"], [.ask], hasDeadline: true),
        .init("a silent load, and the next", ["T1"], [.ask, .ask], loads: [.silence, .token], hasDeadline: true),
        .init("a late answer", ["T2", "S3"], [.ask, .ask], hasDeadline: true),
        .init("a late answer for two", ["T2", "S1", "S3"], [.ask, .ask], [.ask], loads: [.token], hasDeadline: true),
        .init("two callers and a deadline", ["T2", "S1", "D1"], [.ask], [.ask], hasDeadline: true),
        .init("a deadline for two", ["T1", "D2"], [.ask], [.ask], loads: [.silence], hasDeadline: true),
        .init(
            "an error, and then silence",
            ["T1", "F2"],
            [.ask, .ask],
            loads: [.failure, .silence],
            hasDeadline: true
        ),
        .init("cancellation, answer and deadline", ["D1", "X1", "T1"], [.ask], cancelled: [0], hasDeadline: true),
        .init("sign-out and deadline", ["D1", "O1", "T1"], [.ask], [.signOut], hasDeadline: true),
        .init(
            "cancellation, sign-out and deadline",
            ["D1", "X1", "O1", "T1"],
            [.ask],
            [.signOut],
            cancelled: [0],
            hasDeadline: true
        ),
    ]

    static let departures: [ContractScenario] = [
        .init("the last reference goes", ["D6"], [.ask], [.drop]),
        .init("the last reference goes, with two callers", ["D6", "D1"], [.ask], [.ask], [.drop]),
    ]
}

extension ContractScenario {
    /// The scenario of this name, of which there must be one.
    static func named(_ name: String) -> ContractScenario {
        guard let scenario = all.first(where: { $0.name == name }) else {
            preconditionFailure("no scenario is called “\(name)”")
        }
        return scenario
    }
}
