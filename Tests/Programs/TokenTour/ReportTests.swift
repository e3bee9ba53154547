import ConsoleSupport
import TestSupport
import Testing

@testable import TokenTour

@Suite("The verdict names what each set-up lost, and the exit status follows the verdict", .eightAtATime)
struct VerdictTests {
    private func result(_ setUp: SetUp, lost: Int = 0, served: Int = 500, unanswered: Int = 0) -> SetUpResult {
        let failed = 500 - served - unanswered
        return SetUpResult(
            setUp: setUp,
            rounds: 5,
            loads: 5 + lost,
            reuses: lost,
            signIns: 1 + lost,
            sessionsLost: lost,
            callers: .init(served: served, unanswered: unanswered, reasons: failed == 0 ? [:] : ["signed out": failed]),
            wallTime: .seconds(99),
            lastRound: []
        )
    }

    private func report(_ results: SetUpResult...) -> Report {
        Report(results: results, isMermaid: false)
    }

    @Test("A naive set-up that loses its sessions does not fail the tour")
    func naive() {
        let report = self.report(result(.naiveActor, lost: 5, served: 3), result(.actor))
        #expect(report.isGood)
        #expect(
            report.text.hasSuffix(
                """


                naive-actor lost 5 of 6 sessions in 5 rounds, and left 497 of 500 callers unserved.
                actor kept the session and served every caller: 5 loads in 5 rounds.
                """
            )
        )
    }

    @Test("A set-up of ours that loses a session fails", arguments: SetUp.allCases.filter(\.isOurs))
    func lost(_ setUp: SetUp) {
        let report = self.report(result(.queue), result(setUp, lost: 1))
        #expect(!report.isGood)
        #expect(report.text.contains("\(setUp.rawValue) FAILED: it lost 1 of 2 sessions"))
    }

    @Test("A set-up of ours that leaves a caller unserved fails", arguments: SetUp.allCases.filter(\.isOurs))
    func unserved(_ setUp: SetUp) {
        let report = self.report(result(setUp, served: 499))
        #expect(!report.isGood)
        #expect(report.text.contains("left 1 of 500 callers unserved: 1 × signed out."))
    }

    @Test("Callers without an answer are counted apart from callers with an error")
    func unanswered() {
        let report = self.report(result(.both, served: 498, unanswered: 1))
        #expect(!report.isGood)
        #expect(report.text.hasSuffix("left 2 of 500 callers unserved, 1 of them without an answer: 1 × signed out."))
    }

    @Test("The report draws one naive round and one of ours, then the table, then the verdict")
    func order() {
        let results = SetUp.allCases.map { result($0) }
        let text = Report(results: results, isMermaid: false).text
        let parts = ["naive-callback, round 5", "both, round 5", "set-up  ", "naive-callback kept"]
        let places = parts.map { text.firstRange(of: $0)?.lowerBound }
        #expect(!places.contains(nil))
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(!text.contains("naive-actor, round"))
        #expect(text.hasSuffix("rounds."))
    }

    @Test("As Markdown: every Mermaid block is closed, and an empty line stands before the table")
    func markdown() {
        let text = Report(results: [result(.naiveActor, lost: 5), result(.both)], isMermaid: true).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0 == "```mermaid" }.count == 2)
        #expect(lines.filter { $0 == "```" }.count == 2)
        #expect(lines.filter { $0.hasPrefix("## ") }.count == 2)
        #expect(text.contains("\n\n| set-up "))
        #expect(text.contains("\n\n- naive-actor lost"))
    }

    @Test("The table fits a terminal of 80 columns with the numbers of a default run")
    func width() {
        let table = Report(results: SetUp.allCases.map { result($0, lost: 995, served: 0) }, isMermaid: false).table
        let lines = table.text.split(separator: "\n")
        #expect(lines.count == 2 + SetUp.allCases.count)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }
}
