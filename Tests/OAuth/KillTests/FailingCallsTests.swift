#if os(Linux)
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

private let library = ProcessInfo.processInfo.environment["FAILING_CALLS"]

@Suite(
    "A disk on which one call of the system fails",
    .serialized,
    .endsHangs,
    .enabled(if: library != nil, "It needs a library that is preloaded: .ci/deep faults")
)
struct FailingCallsTests {
    /// More calls than two loads make.
    private static let calls = 1...90

    /// Two loads of a process, of which a call of the system in the first one fails.
    ///
    /// - Returns: the first lines of what the process has written down, up to the result of the first load.
    private func loadTwice(_ failure: [String: String]) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let session = folder.appending(path: "session")
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let store = FileCredentialStore(folder: session)
        try await store.update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let worker = try Worker(
            "load",
            ["folder": session.path],
            ["endpoint": server.tokenEndpoint.absoluteString],
            environment: failure.merging(["LD_PRELOAD": library ?? "", "FAIL_IN": "/session"]) { $1 }
        )
        _ = try await worker.line("done")
        let end = worker.lines.firstIndex { $0.hasPrefix("error") || $0.hasPrefix("token") } ?? 0
        let first = Array(worker.lines[...end])
        // The second load has no more failures to fear.
        let token = try await worker.line("token ")
        try await worker.end()
        #expect(try await store.load()?.credential.accessToken?.value == token, "\(failure)")
        let endpoint = TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: "loopback-client"))
        let next = try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: AccessToken(value: token))
        #expect(next.value != token)
        #expect(server.tally.reuses == 0, "\(failure)")
        #expect(server.tally.tokenRequests == 2, "\(failure)")
        return first
    }

    private func hasFailed(_ lines: [String]) -> Bool { lines.last?.hasPrefix("error") == true }

    @Test(arguments: [ENOSPC, EIO, EMFILE, ENFILE])
    func `costs no session, whichever call it is`(error: Int32) async throws {
        var failures = 0
        for call in Self.calls {
            if hasFailed(try await loadTwice(["FAIL_CALL": "\(call)", "FAIL_ERROR": "\(error)"])) { failures += 1 }
        }
        #expect(failures > 5, "no call was made to fail")
    }

    /// The first that a load writes is the note: nothing is sent before its file and the folder are on the disk.
    @Test(arguments: [1, 2])
    func `is one of those that flush the note and its folder`(call: Int) async throws {
        #expect(hasFailed(try await loadTwice(["FAIL_NAME": "fsync", "FAIL_CALL": "\(call)", "FAIL_ERROR": "\(EIO)"])))
    }

    /// The note may find room, and what the exchange brings none.
    @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
    func `lets nothing be sent without room for what the exchange brings`(error: Int32) async throws {
        let lines = try await loadTwice(["FAIL_NAME": "posix_fallocate", "FAIL_CALL": "2", "FAIL_ERROR": "\(error)"])
        #expect(hasFailed(lines) && lines.last?.contains("posix_fallocate: ") == true, "\(lines)")
    }

    @Test(arguments: [EOPNOTSUPP, EINVAL, ENOSYS, EPERM])
    func `is no obstacle on a file system that sets no room aside`(error: Int32) async throws {
        let lines = try await loadTwice(["FAIL_NAME": "posix_fallocate", "FAIL_CALL": "2", "FAIL_ERROR": "\(error)"])
        #expect(!hasFailed(lines), "\(lines)")
    }

    /// The folder, the record, and the file of the next record: whoever cannot open it would lose what comes.
    @Test(arguments: [1, 2, 3], [EMFILE, ENFILE])
    func `lets nothing be decided where no file can be opened any more`(call: Int, error: Int32) async throws {
        let lines = try await loadTwice(["FAIL_NAME": "openat", "FAIL_CALL": "\(call)", "FAIL_ERROR": "\(error)"])
        #expect(hasFailed(lines) && !lines.contains { $0.hasPrefix("inside") }, "\(lines)")
    }
}
#endif
