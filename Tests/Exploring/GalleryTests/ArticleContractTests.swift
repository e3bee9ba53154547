import AccessTokenContract
import TestSupport
import Testing

/// Compares the table of the page on the articles with the contract's verdicts on the articles' final services.
@Suite("The contract on the articles' final services", .takesTurnsToWait, .endsHangs)
struct ArticleContractTests {
    private static let header = "| final service of an article | breaks | the service must |"

    @Test func `breaks the clauses that the page names, and no others`() async throws {
        var rows: [String] = []
        for subject in ArticleServices.subjects {
            let report = await ServiceContract.verify(subject, scripts: 0, onProgress: nil)
            for id in report.brokenIDs {
                let clause = try #require(ServiceContract.clauses.first { $0.id == id })
                rows.append("| \(subject) | \(id) | \(clause.wording.must) |")
            }
        }
        let lines = try page("Documentation.docc/Articles").split(separator: "\n").map(String.init)
        let table = lines.drop { $0 != Self.header }.dropFirst(2).prefix { $0.hasPrefix("|") }
        #expect(Array(table) == rows, "put these rows below \(Self.header)\n\(rows.joined(separator: "\n"))")
    }
}
