import ConsoleSupport
import Testing

@Suite("A command reads its arguments and prints tables")
struct ConsoleTests {
    @Test("An option's value is the next argument, or stands after an equals sign")
    func values() throws {
        var arguments = Arguments(["--a", "1", "word", "--b=2", "--c=--3", "a=b"])
        #expect(try arguments.next() == "--a")
        #expect(try arguments.value() == "1")
        #expect(try arguments.next() == "word")
        #expect(try arguments.next() == "--b")
        #expect(try arguments.number(in: 1...2) == 2)
        #expect(try arguments.next() == "--c")
        #expect(try arguments.value() == "--3")
        #expect(try arguments.next() == "a=b")
        #expect(try arguments.next() == nil)
    }

    @Test("A missing value is an error", arguments: [["--a"], ["--a", ""], ["--a", "--b"], ["--a="]])
    func missing(_ list: [String]) throws {
        var arguments = Arguments(list)
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.missingValue("--a")) { try arguments.value() }
    }

    @Test(
        "A value that no option takes is an error, also at the end",
        arguments: [["--a=1"], ["--a=1", "--b"], ["--a="]]
    )
    func attached(_ list: [String]) throws {
        var arguments = Arguments(list)
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.takesNoValue("--a")) { try arguments.next() }
    }

    @Test("A number outside of the limits is an error", arguments: ["0", "8", "x", "99999999999999999999"])
    func limits(_ text: String) throws {
        var arguments = Arguments(["--a", text])
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.notInRange("--a", 1...7)) { try arguments.number(in: 1...7) }
    }

    @Test("An error ends the command with the exit status that fits")
    func status() async {
        let console = Console(program: "test")
        struct Failure: Error {}
        #expect(await console.run { .good } == .good)
        #expect(await console.run { throw UsageError.unknown("--x") } == .usage)
        #expect(await console.run { throw Failure() } == .failed)
    }

    @Test("A table has names to the left, numbers to the right, and lines of one length")
    func table() {
        let rows = [["a", "1", "12 ms"], ["much longer", "1000000", "1 ms"], ["", "×", "—"]]
        #expect(
            TextTable(header: ["set-up", "loads", "time"], rows: rows).text == """
                set-up         loads   time
                ───────────  ───────  ─────
                a                  1  12 ms
                much longer  1000000   1 ms
                                   ×      —
                """
        )
        #expect(TextTable(header: ["a", "b"], rows: []).text == "a  b\n─  ─")
    }
}
