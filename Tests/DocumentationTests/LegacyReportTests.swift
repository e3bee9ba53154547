import AccessTokenContract
import Testing

@Suite("The report of a legacy service")
struct LegacyReportTests {
    private static let article = "Sources/AccessTokenContract/AccessTokenContract.docc/OwnService.md"

    @Test func `is what the article quotes, whole lines left out`() async throws {
        let block = try #require(
            try CodeBlock.all(in: Self.article).first { $0.lines.first == "The contract on \(legacySubject)" }
        )
        let report = await ServiceContract.verify(legacySubject)
        var rest = report.description.lines[...]
        let steps = rest.compactMap(Self.step)
        for line in block.lines where line != "…" {
            // The session works on a queue of its own: two steps may trade places on a busy machine.
            if let step = Self.step(line) {
                #expect(steps.contains(step), "\(step)\nis not in\n\(report)")
                continue
            }
            let index = try #require(rest.firstIndex(of: line), "\(line)\nis not, or not there, in\n\(report)")
            rest = rest[(index + 1)...]
        }
    }

    /// What a line of a trace says after its number.
    private static func step(_ line: String) -> String? {
        line.firstMatch(of: /^ +\d+\. (.+)$/).map { String($0.1) }
    }
}
