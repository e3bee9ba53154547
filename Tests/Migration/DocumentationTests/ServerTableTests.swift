import Foundation
import Testing

@Suite("The table of authorization servers")
struct ServerTableTests {
    @Test func `names the versions that the scripts install`() throws {
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
}
