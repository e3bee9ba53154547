import AccessTokenCore
import AccessTokenSynchronization
import InterleavingExplorer

/// What happened while a scenario was played, in the order in which it happened: all that a rule can see.
struct History: Sendable, CustomStringConvertible {
    /// One call of one of the parts that ask for a token.
    struct Call: Hashable, Sendable, CustomStringConvertible {
        let caller: Int
        let number: Int

        var description: String { "caller \(caller + 1)" + (number > 0 ? ", call \(number + 1)" : "") }
    }

    /// What a caller was told.
    enum Answer: Hashable, Sendable {
        case token(String)
        case error(ofLoad: Int)
        case signedOut
        case timedOut
        case cancelled
        case unknownError(String)
    }

    enum Entry: Hashable, Sendable, CustomStringConvertible {
        /// Comes before the call is made.
        case asks(Call, isCancelled: Bool)
        /// Comes when the caller sees the answer.
        case answered(Call, Answer)
        /// Comes when the loader is called; loads count from 1.
        case loadStarts(Int)
        /// Comes before the answer is given to the service; a load without a token has failed.
        case loadAnswers(Int, token: String?, isCancelled: Bool)
        /// Comes before a token is rejected.
        case rejects(String)
        /// Comes after the call that rejected a token has returned.
        case rejected(String)
        /// Comes before the call that signs out; that counts at some moment between this and the end of the call.
        case signsOut
        /// Comes after it, or with it where later calls of the same caller come after it.
        case signedOut
        case signsIn(String)
        case signedIn(String)
        case deadlinePasses
        case dropsTheService

        var description: String {
            switch self {
            case .asks(let call, let isCancelled): "\(call) asks\(isCancelled ? ", being cancelled" : "")"
            case .answered(let call, let answer): "\(call) is told \(answer)"
            case .loadStarts(let load): "load \(load) starts"
            case .loadAnswers(let load, let token?, _): "load \(load) brings \(token)"
            case .loadAnswers(let load, nil, let isCancelled): "load \(load) \(isCancelled ? "is cancelled" : "fails")"
            case .rejects(let token): "rejects \(token)"
            case .rejected(let token): "has rejected \(token)"
            case .signsOut: "signs out"
            case .signedOut: "has signed out"
            case .signsIn(let token): "signs in with \(token)"
            case .signedIn(let token): "has signed in with \(token)"
            case .deadlinePasses: "the deadline passes"
            case .dropsTheService: "drops the service"
            }
        }
    }

    var entries: [Entry] = []
    /// Whether callers are handlers, which see their answers in the order in which they are given; a task that is
    /// resumed runs when its executor likes.
    var isByHandlers = false
    /// The callers that may be told that they were cancelled.
    var cancelledCallers: Set<Int> = []
    /// The value of the token that the service has in the end; `nil` if that cannot be seen.
    var finalToken: String??

    var description: String { entries.map { "\($0)" }.joined(separator: "\n") }
}

/// Writes a history down, and marks whatever others could notice.
final class Recorder: Sendable {
    private let history: Locked<History>
    private let run: ScheduledRun

    init(_ run: ScheduledRun, isByHandlers: Bool, cancelledCallers: Set<Int>) {
        self.run = run
        history = Locked(History(isByHandlers: isByHandlers, cancelledCallers: cancelledCallers))
    }

    /// Adds what touches the service or anything outside.
    func record(_ entry: History.Entry) {
        recordQuietly(entry)
        run.effect(entry.description)
    }

    /// Adds what happens in one piece with a call, and perhaps the call's end.
    func record<Result>(_ entry: History.Entry, ending end: History.Entry? = nil, _ call: () -> Result) -> Result {
        run.effect(entry.description) {
            recordQuietly(entry)
            defer { if let end { recordQuietly(end) } }
            return call()
        }
    }

    /// Adds what only the caller sees, in a task of its own: no other part can tell when that was.
    func recordQuietly(_ entry: History.Entry) {
        history.withLock { $0.entries.append(entry) }
    }

    /// The history, with what the service shows in the end.
    func finished(with finalToken: String??) -> History {
        history.withLock { history in
            history.finalToken = finalToken
            return history
        }
    }
}
