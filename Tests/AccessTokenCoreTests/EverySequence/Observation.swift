import AccessTokenCore

/// All that an input brings about: what the specification predicts, and what the state machine does.
struct Observation: Equatable {
    struct Answer: Equatable {
        var caller: Int
        var outcome: Outcome
    }

    struct Start: Equatable {
        var load: Int
        var replacing: String?
        var priority: UInt8
    }

    struct Published: Equatable {
        var value: String
        var freshUntil: Double
        var usableUntil: Double
    }

    var answers: [Answer] = []
    var waits = false
    var start: Start?
    var raise: UInt8?
    /// The load that owned the slot owns it no more.
    var ended = false
    var events: [AccessTokenEvent] = []
    var published: Published?
}

/// Times of the scenario, in seconds; a token's are what clauses C2, C4 and C5 say, worked out by hand.
enum Times {
    static let leeway = 10.0
    static let refreshAhead = 20.0
    static let life = 100.0
    static let freshFor = 70.0
    static let usableFor = 90.0
    static let backwards = 1000.0
}

/// A caller's priority: the second is more urgent than the first, the third in between, and so on.
func priority(ofCaller number: Int) -> UInt8 {
    [15, 10, 20][number % 3]
}
