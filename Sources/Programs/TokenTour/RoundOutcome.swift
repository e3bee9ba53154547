import Dispatch

/// How a round, or several rounds, went for the callers.
struct RoundOutcome: Hashable, Sendable, Codable {
    /// Seconds after which a round is closed: more than two loads and two requests may take, deadlines included.
    static let limit = 180.0

    var served = 0
    /// Callers that had no answer when the round was closed.
    var unanswered = 0
    /// Why callers were not served, with the number of callers for each reason.
    var reasons: [String: Int] = [:]

    var count: Int { served + unanswered + reasons.values.reduce(0, +) }

    static func += (one: inout RoundOutcome, other: RoundOutcome) {
        one.served += other.served
        one.unanswered += other.unanswered
        one.reasons.merge(other.reasons, uniquingKeysWith: +)
    }

    private mutating func add(_ status: Result<Int, any Error>) {
        unanswered -= 1
        switch status {
        case .success(200..<300): served += 1
        case .success(let status): reasons["the resource answered \(status)", default: 0] += 1
        case .failure(let error): reasons["\(error)", default: 0] += 1
        }
    }
}

extension RoundOutcome {
    /// Lets all callers call at the same moment, and waits until all are answered, but no longer than so many seconds.
    ///
    /// A broken service may never answer some callers, and the tour must still report that.
    init(of callers: [Caller], within limit: Double = limit) async {
        let (answers, answer) = AsyncStream.makeStream(of: Result<Int, any Error>.self)
        // Inactive until all callers are enqueued: they call at the same moment.
        let line = DispatchQueue(label: "token-tour.callers", attributes: [.concurrent, .initiallyInactive])
        for caller in callers {
            line.async { caller { answer.yield($0) } }
        }
        line.activate()
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { answer.finish() }
        self.init(unanswered: callers.count)
        for await status in answers.prefix(callers.count) { add(status) }
    }
}
