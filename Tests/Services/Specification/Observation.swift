package import AccessTokenCore

/// All that an input brings about: what the specification predicts, and what the state machine does.
package struct Observation: Equatable {
    package struct Answer: Hashable {
        package var caller: Int
        package var outcome: Outcome

        package init(caller: Int, outcome: Outcome) {
            self.caller = caller
            self.outcome = outcome
        }
    }

    package struct Start: Equatable {
        package var load: Int
        package var replacing: String?
        package var priority: UInt8

        package init(load: Int, replacing: String?, priority: UInt8) {
            self.load = load
            self.replacing = replacing
            self.priority = priority
        }
    }

    package struct Published: Equatable {
        package var value: String
        package var freshUntil: Double
        package var usableUntil: Double
        package var grace: Grace?

        package init(value: String, freshUntil: Double, usableUntil: Double, grace: Grace?) {
            self.value = value
            self.freshUntil = freshUntil
            self.usableUntil = usableUntil
            self.grace = grace
        }
    }

    /// When an expired token is handed out all the same.
    package struct Grace: Equatable {
        package var from: Double
        package var until: Double

        package init(from: Double, until: Double) {
            self.from = from
            self.until = until
        }

        package func contains(_ now: Double) -> Bool { from <= now && now < until }
    }

    package var answers: [Answer] = []
    package var waits = false
    package var start: Start?
    package var raise: UInt8?
    /// The load that was the current one is so no more.
    package var ended = false
    package var events: [AccessTokenEvent] = []
    package var published: Published?

    package init() {}
}

/// Times of the scenario, in seconds; a token's are what clauses C2, C4 and C5 say, worked out by hand.
package enum Times {
    package static let leeway = 10.0
    package static let refreshAhead = 20.0
    package static let life = 100.0
    package static let freshFor = 70.0
    package static let usableFor = 90.0
    package static let backwards = 1000.0
    /// Shorter than the refresh-ahead window.
    package static let minimumLoadInterval = 15.0

    package static let policy = AccessTokenPolicy(
        leeway: leeway,
        refreshAhead: refreshAhead,
        loadDeadline: 60,
        minimumLoadInterval: minimumLoadInterval
    )
}

/// What a load of the scenario fails with; it names its load, and shows whether a waiter of another load got it.
package struct LoadFailure: Error {
    package let load: Int

    package init(load: Int) { self.load = load }
}

extension Outcome {
    /// The outcome that a caller's answer is.
    package init(_ result: Result<AccessToken, any Error>) {
        self =
            switch result {
            case .success(let token): .token(token.value)
            case .failure(let error as LoadFailure): .failure(load: error.load)
            case .failure(AccessTokenError.signedOut): .signedOut
            case .failure(AccessTokenError.loadTimedOut): .timedOut
            case .failure(AccessTokenError.loadAskedItsOwnService): .askedItself
            case .failure(is CancellationError): .cancelled
            case .failure(let error): .unexpected("\(error)")
            }
    }
}

/// A caller's priority: the second is more urgent than the first, the third in between, and so on.
package func priority(ofCaller number: Int) -> UInt8 {
    [15, 10, 20][number % 3]
}
