import AccessTokenContract
import CredentialStoreContract
import Testing

@Suite("The tables of the contracts")
struct ContractTableTests {
    @Test(arguments: [(false, "must"), (true, "should")])
    func `have a row for each clause, in the clauses' own words`(isConvention: Bool, verb: String) throws {
        try check(
            ServiceContract.clauses.filter { $0.isConvention == isConvention },
            under: "| id | severity | the subject \(verb) | because |",
            in: "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/Clauses.md"
        )
        try check(
            StoreContract.clauses.map(\.wording).filter { $0.isConvention == isConvention },
            under: "| id | severity | the store \(verb) | because |",
            in: "Sources/Contracts/CredentialStoreContract/CredentialStoreContract.docc/OwnStore.md"
        )
    }

    private func check(_ clauses: [ContractClause], under header: String, in document: String) throws {
        let rows = try tableRows(under: header, in: document)
        let table = clauses.map { "| \($0.id) | \($0.severity) | \($0.must) | \($0.intent) |" }
        #expect(rows == table, "put these rows into \(document):\n\(table.joined(separator: "\n"))")
    }
}
