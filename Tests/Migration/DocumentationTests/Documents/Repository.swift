import Foundation

/// The files of the repository that these tests belong to.
enum Repository {
    static let root = URL(filePath: #filePath)
        .appending(path: "../../../../..").standardizedFileURL

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    /// All Swift files of a folder, at any depth, by their paths from the root.
    static func swiftFiles(in folder: String) throws -> [String] {
        try files(in: folder, suffix: ".swift")
    }

    /// The pages of the documentation catalogs, by their paths from the root.
    static func articles() throws -> [String] {
        try files(in: "Sources", suffix: ".md")
    }

    private static func files(in folder: String, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).resolvingSymlinksInPath().path)
            .filter { $0.hasSuffix(suffix) }
            .map { "\(folder)/\($0)" }
            .sorted()
    }
}
