import AccessTokenContract
import Testing

@Suite("The report of a legacy service")
struct LegacyReportTests {
    @Test func `is what the README quotes, whole lines left out`() async throws {
        let block = try #require(
            try CodeBlock.all(in: "README.md").first { $0.lines.first == "The contract on \(legacySubject)" }
        )
        let report = await AccessTokenContract.verify(legacySubject, patience: .seconds(3))
        var rest = report.description.lines[...]
        for line in block.lines where line != "…" {
            let index = try #require(rest.firstIndex(of: line), "\(line)\nis not, or not there, in\n\(report)")
            rest = rest[(index + 1)...]
        }
    }
}
