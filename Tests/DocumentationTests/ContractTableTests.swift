import AccessTokenContract
import Testing

@Suite("The README's table of the contract")
struct ContractTableTests {
    @Test func `has a row for each clause, in the clauses' own words`() throws {
        let rows = try tableRows(under: "| id | the subject MUST |", in: "README.md")
        #expect(rows == AccessTokenContract.clauses.map { "| \($0.id) | \($0.must) |" })
    }
}
