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
        for line in block.lines where line != "…" {
            let index = try #require(rest.firstIndex(of: line), "\(line)\nis not, or not there, in\n\(report)")
            rest = rest[(index + 1)...]
        }
    }
}
