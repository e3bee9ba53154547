import ConsoleSupport
import Foundation
import TestSupport
import Testing

@Suite("A command reads its arguments and prints tables")
struct ConsoleTests {
    @Test func `An option's value is the next argument, or stands after an equals sign`() throws {
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

    @Test(arguments: [["--a"], ["--a", ""], ["--a", "--b"], ["--a="]])
    func `A missing value is an error`(_ list: [String]) throws {
        var arguments = Arguments(list)
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.missingValue("--a")) { try arguments.value() }
    }

    @Test(arguments: [["--a=1"], ["--a=1", "--b"], ["--a="]])
    func `A value that no option takes is an error, also at the end`(_ list: [String]) throws {
        var arguments = Arguments(list)
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.takesNoValue("--a")) { try arguments.next() }
    }

    @Test(arguments: ["0", "8", "x", "99999999999999999999"])
    func `A number outside of the limits is an error`(_ text: String) throws {
        var arguments = Arguments(["--a", text])
        #expect(try arguments.next() == "--a")
        #expect(throws: UsageError.notInRange("--a", 1...7)) { try arguments.number(in: 1...7) }
    }

    @Test func `An error ends the command with the exit status that fits`() async {
        let console = Console(program: "test")
        struct Failure: Error {}
        #expect(await console.run { .good } == .good)
        #expect(await console.run { throw UsageError.unknown("--x") } == .usage)
        #expect(await console.run { throw Failure() } == .failed)
    }

    #if os(Linux)
    @Test func `The tests' own process asks no proxy for this machine`() {
        let exempt = ProcessInfo.processInfo.environment["no_proxy"] ?? ""
        #expect(exempt.hasSuffix("127.0.0.1,localhost,::1"))
    }
    #endif

    @Test func `A table has names to the left, numbers to the right, and lines of one length`() {
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
