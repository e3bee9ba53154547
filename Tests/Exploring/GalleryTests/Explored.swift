import Foundation
import InterleavingExplorer
import Testing

@testable import race_gallery

let repository = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

/// A version with its exhibit, as the argument of a test.
struct Entry: Sendable, CustomTestStringConvertible {
    let exhibit: Exhibit
    let version: Version

    var testDescription: String { "\(exhibit.name) \(version.name)" }

    static let all = Gallery.exhibits.flatMap { exhibit in
        exhibit.versions.map { Entry(exhibit: exhibit, version: $0) }
    }
    static let breaking = all.filter { $0.version.breaks != nil }
    static let holding = all.filter { $0.version.fault == nil }

    /// How many schedules of a fix are tried here; `swift run race-gallery` tries all of them.
    static let limitOfFixes = 20

    /// What the explorer finds, explored once for all tests.
    func finding() async -> Finding? {
        await Self.findings.value[testDescription]
    }

    private static let findings = Task {
        var findings: [String: Finding] = [:]
        for entry in all {
            let limit = entry.version.breaks == nil ? limitOfFixes : 640
            findings[entry.testDescription] = await entry.version.explore(atMost: limit, stoppingAtFirstFailure: true)
        }
        return findings
    }
}
