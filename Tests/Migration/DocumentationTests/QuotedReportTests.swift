import AccessTokenContract
import TestSupport
import Testing

@Suite("The report of a service")
struct QuotedReportTests {
    @Test(.thorough, arguments: [("OwnService", legacySubject), ("FortyLines", tokenActorSubject)])
    func `is what its article quotes, whole lines left out`(article: String, subject: ContractSubject) async throws {
        let file = "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/\(article).md"
        let block = try #require(
            try CodeBlock.all(in: file).first { $0.lines.first == "The contract on \(subject)" }
        )
        let report = await ServiceContract.verify(subject, onProgress: nil)
        var rest = report.description.lines[...]
        let steps = rest.compactMap(Self.step)
        for line in block.lines where line != "…" {
            let step = Self.step(line)
            let wanted = step ?? line
            // What a service does on its own threads may come later in the trace on a busy machine.
            if let step, step.contains(" is started") || step.contains(" gets ") {
                #expect(steps.contains(step), "\(step)\nis not in\n\(report)")
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
