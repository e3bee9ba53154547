import TestSupport
import Testing

/// A history, and a part of the text of the rule that it breaks.
struct Offence: Sendable, CustomTestStringConvertible {
    let rule: String
    let history: History

    var testDescription: String { "\(rule)\n\(history)" }

    init(
        _ rule: String,
        _ entries: [History.Entry],
        isByHandlers: Bool = false,
        cancelled: Set<Int> = [],
        finalToken: String?? = nil
    ) {
        self.rule = rule
        history = History(
            entries: entries,
            isByHandlers: isByHandlers,
            cancelledCallers: cancelled,
            finalToken: finalToken
        )
    }
}

/// A rule that objects to nothing would let everything through.
@Suite("The rules", .eightAtATime)
struct RuleTests {
    private static let first = History.Call(caller: 0, number: 0)
    private static let second = History.Call(caller: 1, number: 0)
    private static let third = History.Call(caller: 2, number: 0)
    private static let fourth = History.Call(caller: 3, number: 0)

    private static func asks(_ call: History.Call) -> History.Entry { .asks(call, isCancelled: false) }
    private static func answers(_ load: Int, _ token: String? = nil) -> History.Entry {
        .loadAnswers(load, token: token, isCancelled: false)
    }
    private static let isTold = [first, second].map { History.Entry.answered($0, .token("t1")) }
    private static let good = [asks(first), .loadStarts(1), asks(second), answers(1, "t1")] + isTold

    @Test func `have nothing to say about a shared load`() {
        let history = History(entries: Self.good, isByHandlers: true, finalToken: .some("t1"))
        #expect(history.brokenRule == nil)
    }

    static let offences: [Offence] = [
        Offence("exactly once", good.dropLast()),
        Offence("exactly once", good + [isTold[0]]),
        Offence("only what has happened", [asks(first), .answered(first, .signedOut)]),
        Offence("only what has happened", [asks(first), .answered(first, .cancelled)]),
        Offence(
            "load again after an error",
            [asks(first), .loadStarts(1), answers(1)]
                + [.answered(first, .error(ofLoad: 1)), asks(second), .answered(second, .error(ofLoad: 1))]
        ),
        Offence("in the order in which they came", good.dropLast(2) + isTold.reversed(), isByHandlers: true),
        Offence("without a reason of its own", good + [.loadStarts(2), answers(2, "t2")]),
        Offence(
            "one load in flight",
            [asks(first), asks(second), .loadStarts(1), .rejects("t0"), .loadStarts(2), answers(2, "t2")]
                + [.answered(first, .token("t2")), .answered(second, .token("t2"))]
        ),
        Offence(
            "never cancel a load",
            [
                asks(first), .loadStarts(1), .loadAnswers(1, token: nil, isCancelled: true),
                .answered(first, .cancelled),
            ],
            cancelled: [0]
        ),
        Offence(
            "cancelled before",
            [.asks(first, isCancelled: true), .loadStarts(1), .answered(first, .cancelled)],
            cancelled: [0]
        ),
        Offence("keep the newest token", good, finalToken: .some(nil)),
        Offence(
            "nothing of a former session",
            [asks(first), .loadStarts(1), .signsOut, .signedOut, .signsIn("s1"), .signedIn("s1"), answers(1, "t1")]
                + [isTold[0]]
        ),
        Offence("nothing of a former session", good + [.signsOut, .signedOut], finalToken: .some("t1")),
        Offence("as if each call", good + [.rejects("t1"), .rejected("t1")], finalToken: .some("t1")),
        Offence(
            "as if each call",
            good + [.rejects("t1"), .rejected("t1"), asks(third), .answered(third, .token("t1"))]
        ),
        Offence("as if each call", [.signsOut, .signedOut, asks(first), .loadStarts(1), answers(1, "t1"), isTold[0]]),
        Offence(
            "as if each call",
            [.signsOut, .signedOut, asks(first), .loadStarts(1), answers(1), .answered(first, .error(ofLoad: 1))]
        ),
        // The sign-out counts for the third caller, and not for the fourth, who asks later.
        Offence(
            "as if each call",
            good + [.signsOut, asks(third), .answered(third, .signedOut)]
                + [asks(fourth), .answered(fourth, .token("t1")), .signedOut]
        ),
        Offence(
            "as if each call",
            [.signsOut, .signedOut, .signsIn("s1"), .signedIn("s1")],
            finalToken: .some(nil)
        ),
    ]

    @Test(arguments: offences)
    func `object to what breaks them`(_ offence: Offence) {
        let broken = offence.history.brokenRule
        #expect(broken?.rule.text.contains(offence.rule) == true, "\(broken?.description ?? "none")")
    }

    @Test func `have a bad example each`() {
        let unbroken = Rule.all.map(\.text).filter { text in !Self.offences.contains { text.contains($0.rule) } }
        #expect(unbroken == [])
    }
}
