import AccessTokenContract
import CredentialStoreContract
import Foundation
import Testing

@Suite("The tables")
struct TableTests {
    @Test(arguments: [(false, "must"), (true, "should")])
    func `of the contracts have a row for each clause, in the clauses' own words`(isConvention: Bool, verb: String)
        throws
    {
        try check(
            ServiceContract.clauses.map(\.wording).filter { $0.isConvention == isConvention },
            under: "| id | severity | the subject \(verb) | because |",
            in: "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/Clauses.md"
        )
        try check(
            StoreContract.clauses.map(\.wording).filter { $0.isConvention == isConvention },
            under: "| id | severity | the store \(verb) | because |",
            in: "Sources/Contracts/CredentialStoreContract/CredentialStoreContract.docc/OwnStore.md"
        )
    }

    @Test func `have each clause that a service must keep in one of the twelve lines above them`() throws {
        let path = "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/Clauses.md"
        let lines = try Repository.text(of: path).lines.prefix { $0 != "### What a subject must do" }
        let ids = lines.joined(separator: "\n").matches(of: /([A-Z])(\d+)(?: to [A-Z](\d+))?/).flatMap { match in
            let (first, last) = (Int(match.2) ?? 0, match.3.flatMap { Int($0) })
            return stride(from: first, through: last ?? first, by: 1).map { ClauseID(rawValue: "\(match.1)\($0)") }
        }
        let must = ServiceContract.clauses.filter { !$0.isConvention }.map(\.id)
        #expect(ids.sorted() == must.sorted(), "name each clause once in the twelve lines of \(path)")
    }

    @Test func `and the questions have the seconds of a policy that nobody has changed`() throws {
        let policy = AccessTokenPolicy()
        let seconds = [policy.leeway, policy.loadDeadline ?? 0, policy.minimumLoadInterval].map { "\(Int($0)) s" }
        let reference = try Repository.text(of: "Sources/Documentation.docc/MigrationReference.md")
        for (seconds, words) in zip(
            seconds,
            ["it counts as expired", "they get `loadTimedOut` after", "it is handed out for"]
        ) {
            #expect(reference.contains("| \(words) \(seconds)"), "\(words) \(seconds)")
        }
        let questions = try Repository.text(of: "Sources/Documentation.docc/Questions.md")
        #expect(
            questions.contains("token counts as expired: \(Int(policy.leeway)), and never more than half of its life")
        )
        #expect(questions.contains("After \(Int(policy.loadDeadline ?? 0)) seconds its waiters get `loadTimedOut`"))
    }

    @Test func `of authorization servers name the versions that the scripts install`() throws {
        let document = "Sources/OAuth/AccessTokenOAuth/AccessTokenOAuth.docc/Servers.md"
        let header = "| server | rotates | a reused refresh token | client authentication |"
        let named = try tableRows(under: header, in: document)
            .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
        let folder = "Tests/OAuth/AuthorizationServers"
        let pinned = try FileManager.default
            .subpathsOfDirectory(atPath: Repository.root.appending(path: folder).path)
            .filter { $0.hasSuffix("/requirements.txt") }
            .map { path in
                let server = String(path.prefix { $0 != "/" })
                let lines = try Repository.text(of: "\(folder)/\(path)").lines
                let pin = try #require(lines.first { $0.hasPrefix("\(server)==") })
                return pin.replacing("==", with: " ")
            }
        #expect(!pinned.isEmpty)
        #expect(
            named == pinned.sorted(),
            "the table of \(document), and what requirements.txt in \(folder) pins: name these versions"
        )
    }

    private func check(_ clauses: [ClauseWording], under header: String, in document: String) throws {
        let rows = try tableRows(under: header, in: document)
        let table = clauses.map { "| \($0.id) | \($0.severity) | \($0.must) | \($0.intent) |" }
        #expect(rows == table, "put these rows into \(document):\n\(table.joined(separator: "\n"))")
    }
}

/// The rows of the first table of a document that has this header, without the header itself.
func tableRows(under header: String, in document: String) throws -> [String] {
    try Repository.text(of: document).lines
        .drop { $0 != header }
        .dropFirst(2)
        .prefix { $0.hasPrefix("|") }
        .map { $0 }
}
