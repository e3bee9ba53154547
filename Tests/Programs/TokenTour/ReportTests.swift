import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import token_tour

@Suite("The report says what each set-up lost, and the exit status follows", .takesTurns)
struct ReportTests {
    private func result(_ setUp: SetUp, lost: Int = 0, served: Int = 500, unanswered: Int = 0) -> SetUpResult {
        let failed = 500 - served - unanswered
        return SetUpResult(
            setUp: setUp,
            rounds: 5,
            loads: 5 + 99 * lost,
            reuses: 99 * lost,
            sessionsLost: lost,
            callers: .init(served: served, unanswered: unanswered, reasons: failed == 0 ? [:] : ["signed out": failed]),
            seconds: 5,
            lastRound: [.familyRevoked(1), .requestRejected(status: 400), .familyRevoked(1)]
        )
    }

    @Test
    func `First what the server saw of a naive set-up and of ours, then a round in the mean, then a sentence for each`()
    {
        let results = [
            result(.naiveCallback, lost: 4, served: 3), result(.naiveActor, lost: 5), result(.queue), result(.both),
        ]
        let report = Report(results: results)
        #expect(report.isGood)
        #expect(
            report.text == """
                naive-callback, round 5, as the server saw it:
                     2 × the session is revoked
                     1 × a request is rejected: 400

                both, round 5, as the server saw it:
                     2 × the session is revoked
                     1 × a request is rejected: 400

                a round, 100 callers  loads  reuses  sessions lost  served     time
                ────────────────────  ─────  ──────  ─────────────  ──────  ───────
                naive-callback         80.2    79.2            0.8     0.6  1000 ms
                naive-actor             100      99              1     100  1000 ms
                queue                     1       0              0     100  1000 ms
                both                      1       0              0     100  1000 ms

                naive-callback lost 4 sessions in 5 rounds, and left 497 of 500 callers unserved.
                naive-actor lost 5 sessions in 5 rounds, and left 0 of 500 callers unserved.
                queue kept the session and served every caller.
                both kept the session and served every caller.
                """
        )
    }

    @Test
    func `With a limit, the table counts what was refused, and the sentence of a naive set-up says why`() {
        var (naive, queue) = (result(.naiveActor, served: 5), result(.queue))
        (naive.limited, queue.limited) = (495, 0)
        let text = Report(results: [naive, queue]).text
        #expect(text.contains("a round, 100 callers  loads  429  reuses"))
        #expect(text.contains("naive-actor               1   99       0"))
        #expect(text.contains("queue                     1    0       0"))
        #expect(text.contains("left 495 of 500 callers unserved: 495 × signed out."))
    }

    @Test(arguments: SetUp.allCases.filter(\.isOurs))
    func `A set-up of ours that loses a session or leaves a caller unserved fails`(_ setUp: SetUp) {
        let lost = Report(results: [result(.queue), result(setUp, lost: 1)])
        #expect(!lost.isGood)
        #expect(lost.text.contains("\(setUp.rawValue) FAILED: it lost 1 sessions"))
        let unserved = Report(results: [result(setUp, served: 498, unanswered: 1)])
        #expect(!unserved.isGood)
        #expect(unserved.text.hasSuffix("left 2 of 500 callers unserved, 1 of them without an answer: 1 × signed out."))
    }
}
