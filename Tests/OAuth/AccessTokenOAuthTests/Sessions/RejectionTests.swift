import AccessTokenAdapters
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session of either kind, and a server that rejects its token", .eightAtATime, .timeLimit(.minutes(10)))
struct RejectionTests {
    private static func vector(_ id: String) throws -> Vectors.ResourceVector {
        try #require(Vectors.all.resource.first { $0.id == id })
    }

    /// Accepts any token but the first.
    private static func rejectingFirst(
        _ fields: [String: String] = [:]
    ) -> ScriptedServer.Script {
        { connection, request in
            if request.fields["authorization"] == "Bearer A1" {
                connection.reply(401, "rejected", fields: fields)
            } else {
                connection.reply(200, "served")
            }
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `the token goes out as its vector says`(kind: SessionKind) async throws {
        let vector = try #require(Vectors.all.requests.first { $0.id == "Q6" })
        try await withServer { connection, _ in
            connection.reply(200, "served", fields: ["X-Own": "1"])
        } _: { server in
            let service = AsyncAccessTokenService(
                loader: ListLoader(.success(AccessToken(value: vector.in.access_token ?? "")))
            )
            let session = kind.session(service, origins: [try server.url])
            let (data, response) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(String(decoding: data, as: UTF8.self) == "served")
            #expect(response.status == 200)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "x-own") == "1")
            #expect(server.authorizations == [vector.headers?["Authorization"]])
            #expect(server.requests.map(\.line) == ["GET /resource HTTP/1.1"])
        }
    }

    @Test(arguments: ["W1", "W2", "W3"], SessionKind.allCases)
    func `a 401 means the same with and without a challenge`(id: String, kind: SessionKind) async throws {
        let vector = try Self.vector(id)
        #expect(vector.status == 401)
        try await withServer(Self.rejectingFirst(vector.headers ?? [:])) { server in
            let (service, loader) = SampleTokens.service()
            let session = kind.session(service, origins: [try server.url])
            let (data, response) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(response.status == 200)
            #expect(String(decoding: data, as: UTF8.self) == "served")
            #expect(server.authorizations == ["Bearer A1", "Bearer A2"])
            #expect(loader.loads == 2)
        }
    }

    @Test(
        arguments: [#"Basic realm="as""#, #"Digest realm="as", nonce="n", qop="auth""#, "Negotiate", "NTLM", "x"],
        SessionKind.allCases
    )
    func `neither does a challenge of another scheme hang`(challenge: String, kind: SessionKind) async throws {
        try await withServer(Self.rejectingFirst(["WWW-Authenticate": challenge])) { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            #expect(try await session.data(for: URLRequest(url: try server.resource)).1.status == 200)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a 403 goes to the caller, and the token stays`(kind: SessionKind) async throws {
        let vector = try Self.vector("W4")
        try await withServer { connection, _ in
            connection.reply(vector.status ?? 0, "no", fields: vector.headers ?? [:])
        } _: { server in
            let (service, loader) = SampleTokens.service()
            let session = kind.session(service, origins: [try server.url])
            let (data, response) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(response.status == 403)
            #expect(String(decoding: data, as: UTF8.self) == "no")
            #expect(server.requests.count == 1)
            #expect(loader.loads == 1)
            #expect(service.currentToken == AccessToken(value: "A1"))
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a second 401 goes to the caller, and costs no second load`(kind: SessionKind) async throws {
        let vector = try Self.vector("W5")
        #expect(vector.repeat == true)
        try await withServer { connection, _ in
            connection.reply(vector.status ?? 0, "no \(connection.number)", fields: vector.headers ?? [:])
        } _: { server in
            let (service, loader) = SampleTokens.service()
            let session = kind.session(service, origins: [try server.url])
            let (data, response) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(response.status == 401)
            #expect(String(decoding: data, as: UTF8.self) == "no 2")
            #expect(server.authorizations == ["Bearer A1", "Bearer A2"])
            #expect(loader.loads == 2)
            #expect(service.currentToken == AccessToken(value: "A2"))
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `two hundred 401s at once are one exchange at the token endpoint, and a late one is none`(
        kind: SessionKind
    ) async throws {
        let callers = try #require(try Self.vector("W6").callers)
        let gate = Gate()
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
        let service = AsyncAccessTokenService(
            loader: OAuthLoader(endpoint: server.endpoint, store: store),
            policy: .withoutLoadDeadline
        )
        let old = try await service.token()
        // Says late that it does not know the first token.
        try await withServer { connection, request in
            if request.fields["authorization"] == "Bearer \(old.value)" { gate.pass() }
            connection.reply(request.fields["authorization"] == "Bearer \(old.value)" ? 401 : 200, "")
        } _: { lateServer in
            let lateSession = kind.session(service, origins: [try lateServer.url])
            let late = Task { try await lateSession.data(for: URLRequest(url: try lateServer.resource)).1.status }
            await yieldUntil { lateServer.requests.count == 1 }

            server.expireAccessTokens()
            let sessions = try (0..<4).map { _ in try session(kind, service, server) }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<callers {
                    group.addTask {
                        try await sessions[number % 4].data(for: URLRequest(url: server.resource)).1.status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: callers))
            #expect(server.tally.tokenRequests == 2)

            let new = service.currentToken
            gate.open()
            #expect(try await late.value == 200)
            #expect(server.tally.tokenRequests == 2)
            #expect(service.currentToken == new)
        }
        #expect(server.tally.reuses == 0)
    }

    private func session(
        _ kind: SessionKind,
        _ service: AsyncAccessTokenService,
        _ server: RotatingAuthorizationServer
    ) throws -> any TestedSession {
        kind.session(service, origins: [server.resource])
    }

    @Test(arguments: SessionKind.allCases)
    func `what the service says instead of a token reaches the caller unchanged`(kind: SessionKind) async throws {
        let error = OAuthError.refused("invalid_grant")
        try await withServer(Self.rejectingFirst()) { server in
            let loader = ListLoader(.success(AccessToken(value: "A1")), .failure(error))
            let session = kind.session(AsyncAccessTokenService(loader: loader), origins: [try server.url])
            await #expect(throws: error) { try await session.data(for: URLRequest(url: try server.resource)) }
            await #expect(throws: error) { try await session.data(for: URLRequest(url: try server.resource)) }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `what must not be sent is not, and costs no load`(kind: SessionKind) async throws {
        try await withServer(Self.rejectingFirst()) { server in
            let (service, loader) = SampleTokens.service()
            let elsewhere = try #require(URL(string: "https://api.example"))
            let session = kind.session(service, origins: [elsewhere])
            let origin = try #require(WebOrigin(of: try server.url)).description
            await #expect(throws: BearerSessionError.originNotAllowed(origin)) {
                try await session.data(for: URLRequest(url: try server.resource))
            }
            #expect(loader.loads == 0)
            let broken = AsyncAccessTokenService(loader: ListLoader(.success(AccessToken(value: "A\r\nX-Evil: 1"))))
            let other = kind.session(broken, origins: [try server.url])
            await #expect(throws: BearerSessionError.unsendableToken) {
                try await other.data(for: URLRequest(url: try server.resource))
            }
            #expect(server.requests.isEmpty)
        }
    }
}
