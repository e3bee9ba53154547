import Testing

@testable import token_tour

@Suite("The table's columns line up")
struct TextTableTests {
    private let table = TextTable(
        header: ["set-up", "loads", "time"],
        rows: [["a", "1", "12 ms"], ["much longer", "1000000", "1 ms"], ["", "×", "—"]]
    )

    @Test("On a terminal: names to the left, numbers to the right, all lines of one length")
    func text() {
        let expected = """
            set-up         loads   time
            ───────────  ───────  ─────
            a                  1  12 ms
            much longer  1000000   1 ms
                               ×      —
            """
        #expect(table.text == expected)
    }

    @Test("In Markdown: the same, and a rule that says how to align")
    func markdown() {
        let expected = """
            | set-up      |   loads |  time |
            | ----------- | ------: | ----: |
            | a           |       1 | 12 ms |
            | much longer | 1000000 |  1 ms |
            |             |       × |     — |
            """
        #expect(table.markdown == expected)
    }

    @Test("A table without rows is its header")
    func empty() {
        #expect(TextTable(header: ["a", "b"], rows: []).text == "a  b\n─  ─")
    }

    @Test("The tour's table fits a terminal of 80 columns, with any number that a default run can bring")
    func width() {
        let results = SetUpName.allCases.map { name in
            SetUpResult(
                name: name,
                rounds: 5,
                callers: 500,
                loads: 1000,
                reuses: 1000,
                signIns: 5,
                sessionsLost: 5,
                served: 500,
                unanswered: 0,
                wallTime: .seconds(99),
                lastRound: []
            )
        }
        let lines = TextTable(results).text.split(separator: "\n")
        #expect(lines.count == 2 + SetUpName.allCases.count)
        #expect(lines.allSatisfy { $0.count == lines[0].count && $0.count <= 80 })
    }
}
