/// The Swift files that documents may quote, all of them compiled and run by tests.
struct CompiledCode {
    private let files: [[String]]

    init() throws {
        let folders = ["DocumentationTests/Examples", "SampleApplication", "CommandLineTool"]
        let examples = try folders.map { "Tests/Migration/\($0)" }.flatMap(Repository.swiftFiles)
        let others = [
            "Tests/Exploring/ExplorerTests/Explorer/ReadmeExample.swift",
            "Tests/Exploring/ExplorerTests/Explorer/FindARaceExample.swift",
            "Tests/Exploring/ExplorerTests/Explorer/TimingExample.swift",
            "Tests/OAuth/AccessTokenOAuthTests/Loaders/DocumentedExampleTests.swift",
            "Tests/OAuth/AccessTokenPostgresTests/EndedSessionsTests.swift",
            "Tests/OAuth/AccessTokenPostgresTests/FleetExample.swift",
            "Tests/OAuth/AccessTokenPostgresTests/FourColumnsExample.swift",
        ]
        files = try (examples + Host.files + others).map { try Repository.text(of: $0).lines }
    }

    /// Says whether the lines stand in a file one below the other, indented alike.
    func contains(_ excerpt: [String]) -> Bool {
        files.contains { $0.contains(excerpt: excerpt) }
    }
}

/// The few lines that run the contract from each test framework.
enum Host {
    /// The article that shows them.
    static let article = "Sources/Contracts/AccessTokenContract/AccessTokenContract.docc/OwnService.md"

    static let files = [
        "Tests/Contracts/ContractFromSwiftTestingTests.swift",
        "Tests/Contracts/ContractFromXCTestTests.swift",
    ]
}

extension [String] {
    /// Says whether the lines stand here one below the other, indented alike.
    func contains(excerpt: [String]) -> Bool {
        let excerpt = excerpt.withoutCommonIndentation
        return indices.dropLast(excerpt.count - 1).contains { start in
            // Most lines are no beginning: the rest is only then put together.
            excerpt.first.map(self[start].hasSuffix) != false
                && Array(self[start..<(start + excerpt.count)]).withoutCommonIndentation == excerpt
        }
    }

    /// The lines, moved to the left as far as the leftmost of them can be.
    var withoutCommonIndentation: [String] {
        let common = filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return map { String($0.dropFirst(common)) }
    }
}
