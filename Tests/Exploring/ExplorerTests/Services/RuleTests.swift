import TestSupport
import Testing

/// A rule that objects to nothing would let everything through.
@Suite("The rules", .eightAtATime)
struct RuleTests {
    private static let first = History.Call(caller: 0, number: 0)
    private static let second = History.Call(caller: 1, number: 0)
    private static let third = History.Call(caller: 2, number: 0)
    private static let fourth = History.Call(caller: 3, number: 0)

    private static let goodEntries: [History.Entry] = [
        .asks(first, isCancelled: false), .loadStarts(1), .asks(second, isCancelled: false),
        .loadAnswers(1, token: "t1", isCancelled: false), .answered(first, .token("t1")),
        .answered(second, .token("t1")),
    ]

    @Test func `have nothing to say about a shared load`() {
        let history = History(entries: Self.goodEntries, isByHandlers: true, finalToken: .some("t1"))
        #expect(history.brokenRule == nil)
    }

    /// Each with a part of the text of the rule that it breaks.
    static let bad: [(rule: String, history: History)] = [
        ("exactly once", History(entries: Array(goodEntries.dropLast()))),
        ("exactly once", History(entries: goodEntries + [.answered(first, .token("t1"))])),
        ("only what has happened", History(entries: [.asks(first, isCancelled: false), .answered(first, .signedOut)])),
        ("only what has happened", History(entries: [.asks(first, isCancelled: false), .answered(first, .cancelled)])),
        (
            "load again after an error",
            History(entries: [
                .asks(first, isCancelled: false), .loadStarts(1), .loadAnswers(1, token: nil, isCancelled: false),
                .answered(first, .error(ofLoad: 1)), .asks(second, isCancelled: false),
                .answered(second, .error(ofLoad: 1)),
            ])
        ),
        (
            "in the order in which they came",
            History(
                entries: goodEntries.dropLast(2) + [.answered(second, .token("t1")), .answered(first, .token("t1"))],
                isByHandlers: true
            )
        ),
        (
            "without a reason of its own",
            History(entries: goodEntries + [.loadStarts(2), .loadAnswers(2, token: "t2", isCancelled: false)])
        ),
        (
            "one load in flight",
            History(entries: [
                .asks(first, isCancelled: false), .asks(second, isCancelled: false), .loadStarts(1), .rejects("t0"),
                .loadStarts(2), .loadAnswers(2, token: "t2", isCancelled: false), .answered(first, .token("t2")),
                .answered(second, .token("t2")),
            ])
        ),
        (
            "never cancel a load",
            History(
                entries: [
                    .asks(first, isCancelled: false), .loadStarts(1), .loadAnswers(1, token: nil, isCancelled: true),
                    .answered(first, .cancelled),
                ],
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
        ("keep the newest token", History(entries: goodEntries, finalToken: .some(nil))),
        (
            "rejected token",
            History(
                entries: goodEntries.dropLast(1) + [.rejected("t1"), .answered(second, .token("t1"))],
                finalToken: .some("t1")
            )
        ),
        (
            "nothing of a former session",
            History(entries: [
                .asks(first, isCancelled: false), .loadStarts(1), .signsOut, .signedOut, .signsIn("s1"),
                .signedIn("s1"),
                .loadAnswers(1, token: "t1", isCancelled: false), .answered(first, .token("t1")),
            ])
        ),
        (
            "nothing of a former session",
            History(entries: goodEntries + [.signsOut, .signedOut], finalToken: .some("t1"))
        ),
        (
            "answer signedOut",
            History(entries: [
                .signsOut, .signedOut, .asks(first, isCancelled: false), .loadStarts(1),
                .loadAnswers(1, token: "t1", isCancelled: false), .answered(first, .token("t1")),
            ])
        ),
        (
            "as if each call happened at one moment",
            // The sign-out counts for the third caller, and not for the fourth, who asks later.
            History(
                entries: goodEntries + [
                    .signsOut, .asks(third, isCancelled: false), .answered(third, .signedOut),
                    .asks(fourth, isCancelled: false), .answered(fourth, .token("t1")), .signedOut,
                ]
            )
        ),
        (
            "the last session's token",
            History(entries: [.signsOut, .signedOut, .signsIn("s1"), .signedIn("s1")], finalToken: .some(nil))
        ),
    ]

    @Test(arguments: bad.indices)
    func `object to what breaks them`(_ index: Int) {
        let (rule, history) = Self.bad[index]
        #expect(history.brokenRule?.rule.text.contains(rule) == true, "\(history.brokenRule?.description ?? "none")")
    }

    @Test func `have a bad example each`() {
        let unbroken = Rule.all.map(\.text).filter { text in !Self.bad.contains { text.contains($0.rule) } }
        #expect(unbroken == [])
    }
}
