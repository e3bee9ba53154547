#if os(macOS) || os(Linux)
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// `.ci/deep kill` has four times as many.
private let kills = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 25

@Suite(
    "Processes that share a folder, and are killed",
    .eightAtATime,
    .serialized,
    .timeLimit(.minutes(10))
)
final class FileStoreKillTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "kill-\(UUID().uuidString)")
    private var session: URL { folder.appending(path: "session") }
    private var place: [String: String] { ["folder": session.path] }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func store(waitLimit: TimeInterval = 60) -> FileCredentialStore {
        FileCredentialStore(folder: session, waitLimit: waitLimit)
    }

    private func massacre(grace: TimeInterval) -> Massacre {
        Massacre(place: place, store: store(), folder: folder, grace: grace, kills: kills)
    }

    @Test func `lose no session of a server that grants a short grace`() async throws {
        try await massacre(grace: 10).losesNothing()
        let left = try FileManager.default.contentsOfDirectory(atPath: session.path)
        #expect(left.count <= 3, "\(left)")
    }

    @Test func `spend no token twice on a strict server, but for those who die between sending and saving`()
        async throws
    {
        try await massacre(grace: 0).losesOnlyWhatIsExplained()
        let left = try FileManager.default.contentsOfDirectory(atPath: session.path)
        #expect(left.count <= 3, "\(left)")
    }

    @Test(arguments: ["hold", "hold-with-child"])
    func `let the next one in when one dies inside, also while a child of it lives`(_ task: String) async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker(task, place, journalIn: folder)
        _ = try await holder.line("holds")
        await #expect(throws: CredentialStoreError.busy) { try await store(waitLimit: 0.05).update { _ in .keep } }
        try await holder.end()
        #expect(try await store().update { $0 == nil ? .keep : .replace(Credential(refreshToken: "RT2")) } != nil)
        if task != "hold" {
            let child = try #require(Int32(try await holder.line("child ")))
            #expect(kill(child, SIGKILL) == 0, "the child should have lived until now")
        }
    }

    @Test func `keep the others out while one is stopped inside, and load all the same`() async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker("hold", place, journalIn: folder)
        _ = try await holder.line("holds")
        holder.send(SIGSTOP)
        await #expect(throws: CredentialStoreError.busy) { try await store(waitLimit: 0.05).update { _ in .keep } }
        #expect(try await store().load()?.credential.refreshToken == "RT1")
        holder.send(SIGCONT)
        try await holder.end()
    }

    @Test func `keep what the server issued while the disk was full, and save it at the next load`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let options = ["endpoint": server.tokenEndpoint.absoluteString, "file-limit": "0"]
        let worker = try Worker("load", place, journalIn: folder, options)
        _ = try await worker.line("done")
        let error = try await worker.line("error ")
        #expect(error.contains("credential.json"))
        #expect(error.contains("write: "))
        #expect(server.tally.tokenRequests == 1)
        #expect(try await store().load()?.credential.accessToken?.value == worker.line("token "))
        try await worker.end()
    }

    @Test func `send nothing when the folder cannot be written`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        var options = ["endpoint": server.tokenEndpoint.absoluteString]
        if geteuid() == 0 {
            // No permission keeps root out: the worker becomes somebody else.
            options["user"] = "65534"
            let owner = [FileAttributeKey.ownerAccountID: 65_534]
            for name in ["", "credential.json", "credential.lock"] {
                try FileManager.default.setAttributes(owner, ofItemAtPath: session.appending(path: name).path)
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: session.path)
        let worker = try Worker("load", place, journalIn: folder, options)
        _ = try await worker.line("done")
        let error = try await worker.line("error ")
        #expect(error.contains("\(session.path) failed: nothing can be saved in the folder"))
        #expect(server.tally.tokenRequests == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: session.path)
        try await worker.end()
    }
}
#endif
