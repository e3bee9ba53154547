import TestSupport
import Testing

/// A rule that objects to nothing would let everything through.
@Suite("The rules", .takesTurnsToExplore)
struct RuleTests {
    private static let first = History.Call(caller: 0, number: 0)
    private static let second = History.Call(caller: 1, number: 0)
    private static let third = History.Call(caller: 2, number: 0)
    private static let fourth = History.Call(caller: 3, number: 0)

    private static func asks(_ call: History.Call) -> History.Entry { .asks(call, isCancelled: false) }
    private static func answers(_ load: Int, _ token: String? = nil) -> History.Entry {
        .loadAnswers(load, token: token, isCancelled: false)
    }
    private static let signOut: [History.Entry] = [.signsOut, .signedOut]
    private static let isTold = [first, second].map { History.Entry.answered($0, .token("t1")) }
    private static let good = [asks(first), .loadStarts(1), asks(second), answers(1, "t1")] + isTold

    @Test func `have nothing to say about a shared load`() {
        let history = History(entries: Self.good, isByHandlers: true, finalToken: .some("t1"))
        #expect(history.brokenRule == nil)
    }

    /// A part of the text of the rule that is broken, and a history that breaks it.
    static let offences: [(String, History)] = [
        ("exactly once", History(entries: good.dropLast())),
        ("exactly once", History(entries: good + [isTold[0]])),
        ("only what has happened", History(entries: [asks(first), .answered(first, .signedOut)])),
        ("only what has happened", History(entries: [asks(first), .answered(first, .cancelled)])),
        (
            "load again after an error",
            History(
                entries: [asks(first), .loadStarts(1), answers(1)]
                    + [.answered(first, .error(ofLoad: 1)), asks(second), .answered(second, .error(ofLoad: 1))]
            )
        ),
        (
            "in the order in which they came",
            History(entries: good.dropLast(2) + isTold.reversed(), isByHandlers: true)
        ),
        ("without a reason of its own", History(entries: good + [.loadStarts(2), answers(2, "t2")])),
        (
            "one load in flight",
            History(
                entries: [asks(first), asks(second), .loadStarts(1), .rejects("t0"), .loadStarts(2), answers(2, "t2")]
                    + [.answered(first, .token("t2")), .answered(second, .token("t2"))]
            )
        ),
        (
            "never cancel a load",
            History(
                entries: [asks(first), .loadStarts(1), .loadAnswers(1, token: nil, isCancelled: true)]
                    + [.answered(first, .cancelled)],
                cancelledCallers: [0]
            )
        ),
        (
            "cancelled before",
            History(
                entries: [.asks(first, isCancelled: true), .loadStarts(1), .answered(first, .cancelled)],
                cancelledCallers: [0]
            )
        ),
        ("keep the newest token", History(entries: good, finalToken: .some(nil))),
        (
            "nothing of a former session",
            History(
                entries: [asks(first), .loadStarts(1), .signsOut, .signedOut, .signsIn("s1"), .signedIn("s1")]
                    + [answers(1, "t1"), isTold[0]]
            )
        ),
        ("nothing of a former session", History(entries: good + signOut, finalToken: .some("t1"))),
        ("as if each call", History(entries: good + [.rejects("t1"), .rejected("t1")], finalToken: .some("t1"))),
        (
            "as if each call",
            History(
                entries: good + [.rejects("t1"), .rejected("t1"), asks(third), .answered(third, .token("t1"))]
            )
        ),
        ("as if each call", History(entries: signOut + [asks(first), .loadStarts(1), answers(1, "t1"), isTold[0]])),
        (
            "as if each call",
            History(
                entries: signOut + [asks(first), .loadStarts(1), answers(1), .answered(first, .error(ofLoad: 1))]
            )
        ),
        // The sign-out counts for the third caller, and not for the fourth, who asks later.
        (
            "as if each call",
            History(
                entries: good + [.signsOut, asks(third), .answered(third, .signedOut)]
                    + [asks(fourth), .answered(fourth, .token("t1")), .signedOut]
            )
        ),
        ("as if each call", History(entries: signOut + [.signsIn("s1"), .signedIn("s1")], finalToken: .some(nil))),
    ]

    @Test(arguments: offences)
    func `object to what breaks them`(_ rule: String, _ history: History) {
        let broken = history.brokenRule
        #expect(broken?.rule.text.contains(rule) == true, "\(broken?.description ?? "none")")
    }

    @Test func `have a bad example each`() {
        let unbroken = Rule.all.map(\.text).filter { text in !Self.offences.contains { text.contains($0.0) } }
        #expect(unbroken == [])
    }
}
