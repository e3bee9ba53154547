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
    .timeLimit(.minutes(20)),
    .enabled(if: library != nil, "It needs a library that is preloaded: .ci/deep faults")
)
struct FailingCallsTests {
    /// More calls than two loads make.
    private static let calls = 1...70

    @Test(arguments: [ENOSPC, EIO])
    func `costs no session, whichever call it is`(error: Int32) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var hasFailed = 0
        for call in Self.calls {
            let session = folder.appending(path: "\(call)/session")
            try FileManager.default.createDirectory(
                at: session.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            let server = try RotatingAuthorizationServer()
            defer { server.stop() }
            let store = FileCredentialStore(folder: session)
            try await store.update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
            let worker = try Worker(
                "load",
                ["folder": session.path],
                journalIn: folder,
                ["endpoint": server.tokenEndpoint.absoluteString],
                environment: [
                    "LD_PRELOAD": library ?? "", "FAIL_IN": "/session", "FAIL_CALL": "\(call)",
                    "FAIL_ERROR": "\(error)",
                ]
            )
            _ = try await worker.line("done")
            if worker.lines.contains(where: { $0.hasPrefix("error") }) { hasFailed += 1 }
            // The second load has no more failures to fear.
            let token = try await worker.line("token ")
            try await worker.end()
            #expect(try await store.load()?.credential.accessToken?.value == token, "call \(call)")
            let endpoint = TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: "loopback-client"))
            let next = try await OAuthLoader(endpoint: endpoint, store: store).load(
                replacing: AccessToken(value: token)
            )
            #expect(next.value != token)
            #expect(server.tally.reuses == 0, "call \(call)")
            #expect(server.tally.tokenRequests == 2, "call \(call)")
        }
        #expect(hasFailed > 5, "no call was made to fail")
    }
}
#endif
