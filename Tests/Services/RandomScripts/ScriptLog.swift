import AccessTokenContract
import Foundation

/// Everything that a stack does during a script, in the order in which it is seen.
///
/// Safe: the condition's lock guards the entries.
final class ScriptLog: @unchecked Sendable {
    struct Entries {
        var answers: [Observation.Answer] = []
        var starts: [String?] = []
        var events: [AccessTokenEvent] = []
        /// The sign-outs that are done, numbered from 1.
        var signOuts: [Int] = []

        /// How many entries there are of each kind.
        var counts: [Int] { [answers.count, starts.count, events.count, signOuts.count] }
    }

    private let condition = NSCondition()
    private var entries = Entries()

    func add(_ change: (inout Entries) -> Void) {
        condition.lock()
        change(&entries)
        condition.signal()
        condition.unlock()
    }

    func answered(_ caller: Int, _ result: Result<AccessToken, any Error>) {
        add { $0.answers.append(.init(caller: caller, outcome: Outcome(result))) }
    }

    /// Blocks until there are so many entries of each kind, or the time is over; returns what there is then.
    func wait(for counts: [Int], atMost seconds: TimeInterval) -> Entries {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while zip(entries.counts, counts).contains(where: { $0 < $1 }), condition.wait(until: end) {}
        return entries
    }
}
