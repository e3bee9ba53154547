import Foundation

/// Every decision about which exchanges of an endpoint may be in flight, and nothing else: no task, no timer, no clock.
///
/// An input is a past event. After each input, the ``ExchangeGate`` carries out what ``next(at:)`` returns. Times are
/// seconds that never go back.
///
/// | the server | exchanges in flight at most |
/// | --- | --- |
/// | answers | the limit |
/// | refuses one by 429 or 503 with `Retry-After` | as many as before: one account may have a limit of its own |
/// | refuses two, and answers none in between | none is sent until that time is over |
/// | has refused so before | 1, and 1 more with each answer, up to half of those before; then 1 more with 50 answers |
///
/// A reply counts only if its exchange was sent after the last pause began. After a pause one exchange is sent at a
/// time; so at most two are refused before the next pause, and a server with a limit for each second refuses fewer each
/// time. A pause is as long as the patience at most, and twice as long after each pause that no answer ends:
/// two accounts that are refused stop the others for a short time only.
struct ExchangeLine: Sendable {
    /// Loads and people take turns, so that neither is behind a thousand of the other.
    enum Kind: CaseIterable, Sendable {
        /// A load that had its turn, and whose grant was too old by then; it comes before all other loads.
        case returning
        /// Of a load, which may be one of thousands.
        case renewal
        /// A login, for which a person waits.
        case other

        /// As what a load whose turn has come goes back into the line, to make its grant anew; `nil` if it sends.
        ///
        /// A server may take an assertion for a minute only. The second grant is sent in any case: no load makes grants
        /// for ever.
        ///
        /// - Parameters:
        ///   - age: seconds that the grant has stood in line.
        ///   - deadline: seconds that an exchange may take.
        func again(withGrantOf age: TimeInterval, deadline: TimeInterval) -> Kind? {
            self == .renewal && age > deadline / 2 ? .returning : nil
        }
    }

    enum Step: Equatable, Sendable {
        case send(Int)
        case fail(Int, OAuthError)
    }

    /// How many exchanges of an endpoint are in flight at most if nothing else is said.
    static let usualLimit = 50
    /// Answers after which one more exchange is let in, beyond half of those at the last refusal.
    private static let answersForMore = 50
    /// Seconds that refusals stop all accounts at most.
    private static let longestPause: TimeInterval = 300

    private let limit: Int
    /// Seconds that a waiter waits at most while the server answers nobody.
    private let patience: TimeInterval

    private(set) var inFlight = 0
    /// Counts the pauses.
    ///
    /// An exchange keeps the number at which it was sent, so that its reply can be told from later ones.
    private(set) var volley = 0
    /// How many may be in flight now.
    private var allowance: Int
    /// Up to here the allowance grows with each answer.
    private var goal: Int
    private var answersSinceGrowth = 0
    private var pause: (end: TimeInterval, status: Int)?
    /// Refusals since the last answer, or since the last pause began.
    private var refusals = 0
    /// Pauses since the last answer to an exchange that was sent after one.
    private var pauses = 0
    private var lastAnswer = -TimeInterval.infinity
    private var waiters: [Kind: Waiters] = [:]
    private var lastKind = Kind.renewal

    init(limit: Int, patience: TimeInterval) {
        self.limit = max(1, limit)
        self.patience = patience
        (allowance, goal) = (self.limit, self.limit)
    }

    var waiting: Int { waiters.values.reduce(0) { $0 + $1.count } }

    // MARK: Inputs

    /// Whether an exchange that does not wait is let in.
    mutating func enterAtOnce(at now: TimeInterval) -> Bool {
        guard waiting == 0, pause(at: now) == nil, inFlight < allowance else { return false }
        inFlight += 1
        return true
    }

    mutating func enter(_ number: Int, _ kind: Kind, at now: TimeInterval) {
        waiters[kind, default: Waiters()].append(number, at: now)
    }

    /// A waiter does not want to be let in any more.
    mutating func cancel(_ number: Int) {
        for kind in Kind.allCases { waiters[kind]?.remove(number) }
    }

    /// The server has answered an exchange, which was sent in this ``volley``.
    mutating func answered(_ status: Int, retryAfter: TimeInterval?, of volley: Int, at now: TimeInterval) {
        guard [429, 503].contains(status), let retryAfter, retryAfter > 0 else {
            lastAnswer = now
            guard volley == self.volley, pause(at: now) == nil else { return }
            (refusals, pauses) = (0, 0)
            return grow()
        }
        let end = now + min(retryAfter, longestPause)
        if let pause = pause(at: now) {
            // Exchanges that were in flight together are refused together.
            self.pause = (max(pause.end, end), status)
            return
        }
        // The one pause was for all that were in flight together, also for those whose refusal took longer than that.
        guard volley == self.volley else { return }
        refusals += 1
        guard refusals > 1 else { return }
        pause = (end, status)
        (refusals, pauses) = (0, pauses + 1)
        self.volley += 1
        // Where one at a time is refused, it came too early, and there were not too many.
        if allowance > 1 { goal = allowance / 2 }
        (allowance, answersSinceGrowth) = (1, 0)
    }

    private var longestPause: TimeInterval { min(Self.longestPause, patience * pow(2, Double(pauses))) }

    /// An exchange is in flight no more.
    mutating func ended() { inFlight -= 1 }

    // MARK: Outputs

    /// Who is let in now, and who has waited in vain.
    mutating func next(at now: TimeInterval) -> [Step] {
        var steps: [Step] = []
        if pause(at: now) == nil {
            pause = nil
            while inFlight < allowance, let number = removeFirst() {
                inFlight += 1
                steps.append(.send(number))
            }
        }
        for kind in Kind.allCases {
            while let first = waiters[kind]?.first, let error = refusal(of: first, at: now) {
                waiters[kind]?.removeFirst()
                steps.append(.fail(first.number, error))
            }
        }
        return steps
    }

    /// When ``next(at:)`` may return something although nothing has happened; `nil` if nobody waits.
    func nextLook(at now: TimeInterval) -> TimeInterval? {
        let ends = waiters.values.compactMap { $0.first.map(end) }
        guard let end = ends.min() else { return nil }
        return pause(at: now)?.end ?? end
    }

    // MARK: Parts

    private func pause(at now: TimeInterval) -> (end: TimeInterval, status: Int)? {
        pause.flatMap { now < $0.end ? $0 : nil }
    }

    private mutating func grow() {
        if allowance < goal {
            allowance += 1
        } else if allowance < limit {
            answersSinceGrowth += 1
            if answersSinceGrowth == Self.answersForMore { (allowance, answersSinceGrowth) = (allowance + 1, 0) }
        }
    }

    private mutating func removeFirst() -> Int? {
        let loads = [Kind.returning, .renewal]
        for kind in lastKind == .other ? loads + [.other] : [.other] + loads {
            guard let number = waiters[kind]?.removeFirst() else { continue }
            lastKind = kind
            return number
        }
        return nil
    }

    /// When a waiter has waited in vain, unless the server answers somebody before.
    private func end(of waiter: Waiters.Waiter) -> TimeInterval { max(waiter.since, lastAnswer) + patience }

    private func refusal(of waiter: Waiters.Waiter, at now: TimeInterval) -> OAuthError? {
        guard let pause = pause(at: now) else {
            return now < end(of: waiter) ? nil : .unreachable(code: URLError.Code.timedOut.rawValue)
        }
        // It would wait in vain: better to say so at once, and for how long.
        guard pause.end >= end(of: waiter) else { return nil }
        return .unavailable(status: pause.status, retryAfter: (pause.end - now).rounded(.up))
    }
}

/// Those who wait, in the order of their arrival.
///
/// To add or to remove one takes as long among 60,000 as among ten.
private struct Waiters: Sendable {
    typealias Waiter = (number: Int, since: TimeInterval)

    /// With the numbers of some that were removed.
    private var order: ArraySlice<Int> = []
    private var arrivals: [Int: TimeInterval] = [:]

    var count: Int { arrivals.count }

    /// The one who has waited for the longest time.
    var first: Waiter? {
        order.first.flatMap { number in arrivals[number].map { (number, $0) } }
    }

    mutating func append(_ number: Int, at now: TimeInterval) {
        order.append(number)
        arrivals[number] = now
    }

    @discardableResult
    mutating func removeFirst() -> Int? {
        guard let first else { return nil }
        remove(first.number)
        return first.number
    }

    mutating func remove(_ number: Int) {
        guard arrivals.removeValue(forKey: number) != nil else { return }
        while let first = order.first, arrivals[first] == nil { order.removeFirst() }
        if order.count > 2 * arrivals.count + 16 { order = ArraySlice(order.filter { arrivals[$0] != nil }) }
    }
}
