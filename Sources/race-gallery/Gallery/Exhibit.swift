import Foundation
import InterleavingExplorer

/// One system of the articles: a scenario, and the versions of the system that are put to it.
struct Exhibit: Sendable {
    /// The name on the command line.
    let name: String
    let title: String
    /// What happens, and why it is hard.
    let story: String
    /// What must hold under every schedule.
    let invariants: [String]
    let versions: [Version]
    /// Where its code is, from the root of the package; its versions are there, or beside it.
    let file: String

    init(
        name: String,
        title: String,
        story: String,
        invariants: [String],
        versions: [Version],
        file: String = #filePath
    ) {
        self.name = name
        self.title = title
        self.story = story
        self.invariants = invariants
        self.versions = versions
        let sources = file.range(of: "Sources/race-gallery/", options: .backwards)
        self.file = sources.map { String(file[$0.lowerBound...]) } ?? file
    }
}
