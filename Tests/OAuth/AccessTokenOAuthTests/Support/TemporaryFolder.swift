import Foundation

/// A folder for one test, which goes away with it, and a credential folder in it.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "credentials-\(UUID().uuidString)")

    /// Where the store under test is; it does not exist at first.
    var session: URL { url.appending(path: "session") }

    init() {
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: session.path).sorted() }
    }

    var text: String {
        get throws { try String(contentsOf: session.appending(path: "credential.json"), encoding: .utf8) }
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Changes the record's file, as a hand or a broken disk does.
    func write(_ text: String) throws {
        try Data(text.utf8).write(to: session.appending(path: "credential.json"))
        try setMode("session/credential.json", 0o600)
    }

    func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    func setMode(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }

    func setGroup(_ name: String, _ group: gid_t) throws {
        try FileManager.default.setAttributes([.groupOwnerAccountID: Int(group)], ofItemAtPath: path(name))
    }

    /// Gives it to the user that is called nobody.
    func giveAway(_ name: String) throws {
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path(name))
    }

    /// Moves it away, and puts a symbolic link to it in its place.
    func replaceByLink(_ name: String) throws {
        try FileManager.default.moveItem(atPath: path(name), toPath: path("moved"))
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: path("moved"))
    }

    func removeItem(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(name))
    }

    /// Removes the credential folder with all that is in it.
    func remove() throws { try removeItem("session") }
}
