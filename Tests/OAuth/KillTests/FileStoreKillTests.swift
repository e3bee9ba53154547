#if os(macOS) || os(Linux)
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// `.ci/deep kill` has a hundred.
private let kills = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 2

@Suite(
    "Processes that share a folder, and are killed",
    .takesTurnsToWait,
    .serialized,
    .endsHangs
)
final class FileStoreKillTests {
    private let session = FileManager.default.temporaryDirectory.appending(path: "kill-\(UUID().uuidString)")
    private var place: [String: String] { ["folder": session.path] }

    deinit {
        try? FileManager.default.removeItem(at: session)
    }

    private func store(waitLimit: TimeInterval = 60) -> FileCredentialStore {
        FileCredentialStore(folder: session, waitLimit: waitLimit)
    }

    /// The strict server, with which only deaths are explained, needs more kills than `swift test` has.
    @Test(arguments: kills < 100 ? [3600] : [3600, 0])
    func `lose no session of a server with a grace, and on a strict one only by a death between sending and saving`(
        grace: TimeInterval
    ) async throws {
        try await Massacre(place: place, store: store(), grace: grace, kills: kills).losesOnlyWhatIsExplained()
        let left = try FileManager.default.contentsOfDirectory(atPath: session.path)
        #expect(left.count <= 3, "\(left)")
    }

    /// Also between a challenge and the request with its nonce; each new process has to learn the nonce.
    @Test func `lose no session that is bound to a key`() async throws {
        try await Massacre(place: place, store: store(), grace: 3600, kills: kills, isBound: true)
            .losesOnlyWhatIsExplained()
        #expect(
            try String(contentsOf: session.appending(path: "credential.json"), encoding: .utf8).contains("proofKey")
        )
    }

    @Test(arguments: ["hold", "hold-with-child"])
    func `let the next one in when one dies inside, also while a child of it lives`(_ task: String) async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker(task, place)
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
        let holder = try Worker("hold", place)
        _ = try await holder.line("holds")
        holder.send(SIGSTOP)
        await #expect(throws: CredentialStoreError.busy) { try await store(waitLimit: 0.05).update { _ in .keep } }
        #expect(try await store().load()?.credential.refreshToken == "RT1")
        holder.send(SIGCONT)
        try await holder.end()
    }

    @Test func `send nothing while the disk is full, and lose nothing`() async throws {
        let record = session.appending(path: "credential.json")
        let isNoted = Locked<[Bool]>([])
        let server = try RotatingAuthorizationServer { event in
            guard case .tokenRequested = event else { return }
            let text = try? String(contentsOf: record, encoding: .utf8)
            isNoted.withLock { $0.append(text?.contains(#""note""#) == true) }
        }
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let options = ["endpoint": server.tokenEndpoint.absoluteString, "file-limit": "0"]
        let worker = try Worker("load", place, options)
        let error = try await worker.line("error ")
        #expect(error.contains("credential.json"))
        #expect(error.contains("write: "))
        _ = try await worker.line("done")
        // The second load, with room.
        #expect(try await store().load()?.credential.accessToken?.value == worker.line("token "))
        #expect(isNoted.withLock { $0 } == [true], "what is going to be sent is noted first")
        #expect(server.tally.reuses == 0)
        try await worker.end()
    }

    @Test func `send nothing when the folder cannot be written`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        var options = ["endpoint": server.tokenEndpoint.absoluteString]
        if geteuid() == 0 {
            // No permission keeps root out: the worker becomes another user.
            options["user"] = "65534"
            let owner = [FileAttributeKey.ownerAccountID: 65_534]
            for name in ["", "credential.json"] {
                try FileManager.default.setAttributes(owner, ofItemAtPath: session.appending(path: name).path)
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: session.path)
        let worker = try Worker("load", place, options)
        _ = try await worker.line("done")
        let error = try await worker.line("error ")
        #expect(error.contains("\(session.path) failed: nothing can be saved in the folder"))
        #expect(server.tally.tokenRequests == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: session.path)
        try await worker.end()
    }

    // MARK: Longer than the deadline

    /// Two processes that load at a server whose first reply comes later than the first one's deadline, of a second.
    ///
    /// - Parameter stopsFirst: the first one is stopped with its request sent, and before the reply.
    private func withSlowReply(
        _ seconds: TimeInterval,
        stopsFirst: Bool = false,
        _ body: (RotatingAuthorizationServer, _ first: Worker) async throws -> Void
    ) async throws {
        let isAsked = Event()
        let start = DispatchSemaphore(value: 0)
        let asker = Locked<Worker?>(nil)
        let server = try RotatingAuthorizationServer { event in
            guard case .tokenRequested = event, !isAsked.hasHappened else { return }
            // On the server's thread: a task of this busy process may go on seconds later, when its exchange ends.
            start.wait()
            if stopsFirst { asker.withLock { $0 }?.stop() }
            isAsked.happen()
        }
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        server.fail(.slow(seconds))
        let options = ["endpoint": server.tokenEndpoint.absoluteString]
        let first = try Worker("load", place, options.merging(["deadline": "1"]) { $1 })
        asker.withLock { $0 = first }
        start.signal()
        await isAsked.wait()
        try await body(server, first)
        let second = try Worker("load", place, options)
        let token = try await second.line("token ")
        #expect(try await store().load()?.credential.accessToken?.value == token)
        #expect(server.tally.tokenRequests == 1)
        #expect(server.tally.reuses == 0)
        for worker in [first, second] { try await worker.end() }
    }

    @Test func `wait for a reply that is slower than the deadline of the one who asked`() async throws {
        try await withSlowReply(2) { (_, first) async throws in
            #expect(try await first.line("error ").contains("within the deadline"))
        }
    }

    /// After four deadlines an exchange ends that has had no reply.
    @Test func `wait for one that is stopped for longer than four deadlines, with the reply in its hands`() async throws
    {
        try await withSlowReply(0, stopsFirst: true) { (_, first) async throws in
            let other = try Worker(
                "load",
                place,
                ["endpoint": "http://127.0.0.1:1", "deadline": "5"]
            )
            let error = try await other.line("error ")
            #expect(error.contains("until the deadline; nothing was sent"), "\(error)")
            first.send(SIGCONT)
            try await other.end()
        }
    }
}
#endif
