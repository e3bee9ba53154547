import AccessTokenContract
import Testing

@Suite("The table of the contract")
struct ContractTableTests {
    @Test(arguments: ["README.md", "Sources/AccessTokenContract/AccessTokenContract.docc/Clauses.md"])
    func `has a row for each clause, in the clauses' own words`(_ document: String) throws {
        let rows = try tableRows(under: "| id | the subject MUST |", in: document)
        let table = AccessTokenContract.clauses.map { "| \($0.id) | \($0.must) |" }
        #expect(rows == table, "put these rows into \(document):\n\(table.joined(separator: "\n"))")
    }
}
