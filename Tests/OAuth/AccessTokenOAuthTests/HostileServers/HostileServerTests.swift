import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Servers that misbehave", .takesTurns, .endsHangs)
struct HostileServerTests {
    private static let old = AccessToken(value: "A0")
    private static let start = credential("RT0-secret")

    private static func credential(_ refreshToken: String) -> Credential {
        Credential(
            accessToken: old,
            refreshToken: refreshToken,
            scope: "read",
            obtained: Date(timeIntervalSince1970: 1),
            otherMembers: ["id_token": "I"]
        )
    }

    /// Runs a test against the server, and ends what the server does when the test is over.
    private func withServer<Value>(
        _ hostile: HostileServer,
        _ body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let isOver = Locked(false)
        return try await AccessTokenOAuthTests.withServer { connection, _ in
            hostile.answer(connection) { isOver.withLock { $0 } }
        } _: { server in
            defer { isOver.withLock { $0 = true } }
            return try await body(server)
        }
    }

    @Test func `are many`() {
        #expect(HostileServer.catalogue.count >= 100)
        #expect(Set(HostileServer.catalogue.map(\.name)).count == HostileServer.catalogue.count)
    }

    @Test(arguments: HostileServer.catalogue)
    func `as a token endpoint cost nobody the session without need`(hostile: HostileServer) async throws {
        try await withServer(hostile) { server in
            let clock = ManualClock()
            let store = MemoryCredentialStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            let load = Task { try await loader.load(replacing: Self.old) }
            if hostile.isSilent {
                await yieldUntil { server.requests.count == 1 && clock.pendingTimers > 0 }
                clock.advance(by: TokenEndpoint.usualDeadline)
            }
            let result = await load.result
            // Whether a refresh token came with the error is seen in the store.
            #expect(outcome(of: result) == (hostile.exchange == .rescued ? .notUnderstood : hostile.exchange))
            switch hostile.exchange {
            case .token: #expect(try await store.refreshToken == "RT1")
            case .signIn: #expect(try await store.credential == nil)
            // The present access token and all that came with it may live on.
            case .rescued: #expect(try await store.credential?.noting(nil) == Self.credential("RT1"))
            default: #expect(try await store.credential?.noting(nil) == Self.start)
            }
            #expect(server.requests.count == 1)
            #expect(!everythingShown(by: result).contains("RT0"))
        }
    }

    private func outcome(of result: Result<AccessToken, any Error>) -> HostileServer.Exchange? {
        switch result {
        case .success(let token): return token.value == "A1" ? .token : nil
        case .failure(let error as OAuthError):
            switch error {
            case .timedOut: return .timedOut
            case .bodyTooLong: return .tooLong
            case .unreadableHead(): return error.mayHaveBeenCarriedOut && !error.isTransient ? .unreadableHead : nil
            case _ where error.requiresSignIn: return .signIn
            case _ where error.isConfigurationMistake: return .configuration
            case _ where error.isTransient && error.mayHaveBeenCarriedOut: return .onceAgain
            case _ where error.isTransient: return .later(after: error.retryAfter)
            default: return .notUnderstood
            }
        case .failure: return nil
        }
    }

    /// Both kinds of session send in the same way, and look at no body.
    @Test(arguments: HostileServer.catalogue.filter { !$0.isOrdinaryReply }.oneOf(3))
    func `as a resource are answered with what they said, or with an error`(hostile: HostileServer) async throws {
        try await withServer(hostile) { server in
            let (service, loader) = ListLoader.service()
            let configuration = URLSessionConfiguration.keepingNothing
            if hostile.isSilent {
                configuration.timeoutIntervalForRequest = 1
                configuration.timeoutIntervalForResource = 2
            }
            let session = AsyncBearerSession(
                tokens: service,
                origins: [try server.url],
                configuration: configuration,
                bodyLimit: 1 << 20
            )
            let result = await Task { try await session.data(for: URLRequest(url: try server.resource)).1.status }
                .result
            switch (hostile.resource, result) {
            case (.status(let status), .success(let received)):
                #expect(received == status)
                #expect(loader.loads == 1)
            case (.rejected, .success(let received)):
                #expect(received == 401)
                #expect(server.authorizations == ["Bearer A1", "Bearer A2"])
                #expect(loader.loads == 2)
            case (.error(let codes), .failure(let error as URLError)):
                #expect(codes.isEmpty || codes.contains(error.code))
                #expect(loader.loads == 1)
            case (.tooLong, .failure(BearerSessionError.bodyTooLong(limit: 1 << 20))): break
            default: Issue.record("\(hostile.resource) was expected, and \(result) came")
            }
        }
    }
}
