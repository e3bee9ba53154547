import AccessTokenCore
import Foundation

/// All that an input brings about: what the specification predicts, and what the state machine does.
struct Observation: Equatable {
    struct Answer: Hashable {
        var caller: Int
        var outcome: Outcome
    }

    struct Start: Equatable {
        var load: Int
        var replacing: String?
    }

    struct Published: Equatable {
        var value: String
        var freshUntil: Double
        var usableUntil: Double
        var grace: Grace?
    }

    /// When an expired token is handed out all the same.
    struct Grace: Equatable {
        var from: Double
        var until: Double

        func contains(_ now: Double) -> Bool { from <= now && now < until }
    }

    var answers: [Answer] = []
    var waits = false
    var start: Start?
    /// The load whose answer counts.
    var current: Int?
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
    /// Shorter than the refresh-ahead window.
    static let minimumLoadInterval = 15.0

    static let policy = AccessTokenPolicy(
        leeway: leeway,
        refreshAhead: refreshAhead,
        loadDeadline: 60,
        minimumLoadInterval: minimumLoadInterval
    )
}

/// What a load of the scenario fails with; it knows its load, so that waiters of another one are found out.
struct LoadFailure: Error {
    let load: Int
}

extension Input.Answer {
    /// What the load brings.
    ///
    /// - Parameter held: the value of the token that the service held last.
    func result(of load: Int, known: String?, at now: Date) -> LoadResult {
        let expiration = now.addingTimeInterval(Times.life)
        return switch self {
        case .token: .success(AccessToken(value: "T\(load)", expiration: expiration))
        case .sameToken, .replacedToken: .success(AccessToken(value: known ?? "", expiration: expiration))
        case .expiredToken: .success(AccessToken(value: "E\(load)", expiration: now.addingTimeInterval(-1)))
        case .failure: .failure(LoadFailure(load: load))
        }
    }
}

extension Outcome {
    /// The outcome that a caller's answer is.
    init(_ result: Result<AccessToken, any Error>) {
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

/// Something did what it must not do.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
