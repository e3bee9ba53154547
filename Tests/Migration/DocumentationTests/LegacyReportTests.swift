import AccessTokenContract
import Testing

@Suite("The report of a legacy service")
struct LegacyReportTests {
    private static let article = "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/OwnService.md"

    @Test func `is what the article quotes, whole lines left out`() async throws {
        let block = try #require(
            try CodeBlock.all(in: Self.article).first { $0.lines.first == "The contract on \(legacySubject)" }
        )
        let report = await ServiceContract.verify(legacySubject)
        var rest = report.description.lines[...]
        let steps = rest.compactMap(Self.step)
        for line in block.lines where line != "…" {
            let wanted = Self.step(line) ?? line
            // The session works on a queue of its own: on a busy machine, what it does may come later in the trace.
            if wanted.contains(" is started") || wanted.contains(" gets ") {
                #expect(steps.contains(wanted), "\(wanted)\nis not in\n\(report)")
                continue
            }
            let index = try #require(
                rest.firstIndex { (Self.step($0) ?? $0) == wanted },
                "\(line)\nis not, or not there, in\n\(report)"
            )
            rest = rest[(index + 1)...]
        }
    }

    /// What a line of a trace says after its number.
    private static func step(_ line: String) -> String? {
        line.firstMatch(of: /^ +\d+\. (.+)$/).map { String($0.1) }
    }
}
