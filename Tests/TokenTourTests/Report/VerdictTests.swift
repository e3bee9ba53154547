import Testing

@testable import token_tour

@Suite("The verdict says who lost what, and the exit status follows it")
struct VerdictTests {
    private func result(_ name: SetUpName, lost: Int = 0, served: Int = 500, unanswered: Int = 0) -> SetUpResult {
        SetUpResult(
            name: name,
            rounds: 5,
            callers: 500,
            loads: 5 + lost,
            reuses: lost,
            signIns: 1 + lost,
            sessionsLost: lost,
            served: served,
            unanswered: unanswered,
            wallTime: .milliseconds(700),
            lastRound: SampleRound.moments
        )
    }

    @Test("A naive set-up may lose its sessions: that is what it is there to show")
    func naive() {
        let verdict = Verdict(results: [result(.naiveActor, lost: 5, served: 3), result(.actor)])
        #expect(verdict.isGood)
        #expect(
            verdict.text == """
                naive-actor lost 5 of 6 sessions in 5 rounds, and left 497 of 500 callers unserved.
                actor kept the session and served every caller: 5 loads in 5 rounds.
                """
        )
    }

    @Test("A set-up of ours that loses a session fails", arguments: SetUpName.allCases.filter(\.isOurs))
    func lost(_ name: SetUpName) {
        let verdict = Verdict(results: [result(.queue), result(name, lost: 1)])
        #expect(!verdict.isGood)
        #expect(verdict.text.contains("\(name.rawValue) FAILED: it lost 1 of 2 sessions"))
    }

    @Test("A set-up of ours that leaves a caller unserved fails", arguments: SetUpName.allCases.filter(\.isOurs))
    func unserved(_ name: SetUpName) {
        let verdict = Verdict(results: [result(name, served: 499)])
        #expect(!verdict.isGood)
        #expect(verdict.text.contains("left 1 of 500 callers unserved"))
    }

    @Test("Callers who heard nothing are named: a lost callback is worse than an error")
    func unanswered() {
        let verdict = Verdict(results: [result(.both, served: 498, unanswered: 1)])
        #expect(!verdict.isGood)
        #expect(verdict.text.hasSuffix("left 2 of 500 callers unserved, 1 of them without an answer."))
    }

    @Test("The report draws one naive round and one of ours, then the table, then the verdict")
    func report() {
        let results = SetUpName.allCases.map { result($0) }
        let text = Report(results: results, isMermaid: false).text
        let parts = ["naive-callback, round 5", "both, round 5", "set-up  ", "naive-callback kept"]
        let places = parts.map { text.firstRange(of: $0)?.lowerBound }
        #expect(!places.contains(nil))
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(!text.contains("naive-actor, round"))
        #expect(text.hasSuffix("rounds.\n"))
    }

    @Test("As Markdown: every block of Mermaid is closed, and the table has a line between it and the rest")
    func markdown() {
        let text = Report(results: [result(.naiveActor, lost: 5), result(.both)], isMermaid: true).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0 == "```mermaid" }.count == 2)
        #expect(lines.filter { $0 == "```" }.count == 2)
        #expect(lines.filter { $0.hasPrefix("## ") }.count == 2)
        #expect(text.contains("\n\n| set-up "))
        #expect(text.contains("\n\n- naive-actor lost"))
    }
}
