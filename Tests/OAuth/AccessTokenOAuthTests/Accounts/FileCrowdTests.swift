import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// `.ci/deep faults` has a thousand, and 1,024 descriptors for all of them.
private let crowd = ProcessInfo.processInfo.environment["CROWD"].flatMap { Int($0) } ?? 0

@Suite(
    "Many accounts on files",
    .enabled(if: crowd > 0, "CROWD says how many: .ci/deep faults"),
    .endsHangs
)
struct FileCrowdTests {
    /// More renew at once than may be in flight.
    @Test func `are all served at once, each by one exchange, and what each has in its file is good`() async throws {
        let folder = TemporaryFolder()
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let endpoint = server.endpoint
        let store = { @Sendable (account: Int) in
            FileCredentialStore(folder: folder.url.appending(path: "\(account)"), waitLimit: 3600)
        }
        for account in 0..<crowd {
            let credential = Credential(refreshToken: server.signIn().refreshToken)
            try await store(account).update { _ in .replace(credential) }
        }
        for round in 1...2 {
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for account in 0..<crowd {
                    group.addTask {
                        // In the second round as after a new start, with the first token rejected.
                        let old = try await store(account).load()?.credential.accessToken
                        return try await OAuthLoader(endpoint: endpoint, store: store(account)).load(replacing: old)
                            .value
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens.count == crowd)
            #expect(server.tally.tokenRequests == round * crowd)
        }
        #expect(server.tally.reuses == 0)
    }
}
