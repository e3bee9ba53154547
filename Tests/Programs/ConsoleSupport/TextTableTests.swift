import ConsoleSupport
import Testing

@Suite("A table's columns line up")
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
}
