import AccessTokenAdapters
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session that ends as a whole, and how much it reads", .eightAtATime, .timeLimit(.minutes(10)))
struct InvalidationTests {
    private func code(of task: Task<Int, any Error>) async -> URLError.Code? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `cancelling one session cancels its requests, and neither another's nor the load`(kind: SessionKind)
        async throws
    {
        let gate = Gate()
        let (isLoading, mayEnd) = (Event(), Event())
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(200, "")
        } _: { server in
            let (service, loader) = SampleTokens.service { _ in
                isLoading.happen()
                await mayEnd.wait()
            }
            let request = URLRequest(url: try server.resource)
            let (ended, other) = (
                kind.session(service, origins: [try server.url]), kind.session(service, origins: [try server.url])
            )
            let waiting = Task { try await ended.data(for: request).1.status }
            await isLoading.wait()
            let kept = Task { try await other.data(for: request).1.status }
            ended.invalidateAndCancel()
            #expect(await code(of: waiting) == .cancelled)
            mayEnd.happen()
            await yieldUntil { server.requests.count == 1 }
            await #expect(throws: BearerSessionError.sessionInvalidated) { try await ended.data(for: request) }
            gate.open()
            #expect(try await kept.value == 200)
            #expect(server.requests.count == 1)
            #expect(loader.loads == 1)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a request that waits for the server is cancelled at once`(kind: SessionKind) async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let request = URLRequest(url: try server.resource)
            let tasks = (0..<5).map { _ in Task { try await session.data(for: request).1.status } }
            await yieldUntil { server.requests.count == 5 }
            session.invalidateAndCancel()
            for task in tasks { #expect(await code(of: task) == .cancelled) }
            for _ in tasks { gate.open() }
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `finishing lets what is under way go on, and takes nothing new`(kind: SessionKind) async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(connection.number == 1 ? 401 : 200, "")
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let request = URLRequest(url: try server.resource)
            let task = Task { try await session.data(for: request).1.status }
            await yieldUntil { server.requests.count == 1 }
            session.finishTasksAndInvalidate()
            await #expect(throws: BearerSessionError.sessionInvalidated) { try await session.data(for: request) }
            gate.open()
            gate.open()
            #expect(try await task.value == 200)
        }
    }

    @Test func `a task that was not resumed is cancelled with its session, and one that is finished can be resumed`()
        async throws
    {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let service = AccessTokenService(
                loader: CallbackLoaderAdapter(of: ListLoader(.success(AccessToken(value: "A"))))
            )
            let (cancelled, finished) = (
                BearerSession(tokens: service, origins: [try server.url]),
                BearerSession(tokens: service, origins: [try server.url])
            )
            let (isCancelled, isServed) = (Event(), Event())
            let code = Locked<URLError.Code?>(nil)
            let first = cancelled.dataTask(with: try server.resource) { _, _, error in
                code.withLock { $0 = (error as? URLError)?.code }
                isCancelled.happen()
            }
            cancelled.invalidateAndCancel()
            #expect(await isCancelled.happens())
            #expect(code.withLock { $0 } == .cancelled)
            first.resume()
            let second = finished.dataTask(with: try server.resource) { _, response, _ in
                if response?.status == 200 { isServed.happen() }
            }
            finished.finishTasksAndInvalidate()
            second.resume()
            #expect(await isServed.happens())
            #expect(server.requests.count == 1)
        }
    }

    @Test func `tasks that ended or were dropped are not kept`() {
        let tasks = SessionTasks()
        let calls = Locked(0)
        let ended = tasks.register()
        ended?.onCancel { calls.withLock { $0 += 1 } }
        ended?.end()
        tasks.register()?.onCancel { calls.withLock { $0 += 10 } }
        #expect(tasks.count == 0)
        let late = tasks.register()
        tasks.invalidateAndCancel()
        #expect(calls.withLock { $0 } == 0)
        late?.onCancel { calls.withLock { $0 += 100 } }
        #expect(calls.withLock { $0 } == 100)
        #expect(tasks.register() == nil)
    }

    private func post(_ server: ScriptedServer) throws -> URLRequest {
        var request = URLRequest(url: try server.resource)
        request.httpMethod = "POST"
        return request
    }

    @Test(arguments: SessionKind.allCases)
    func `as many bytes as the limit are read, and one more is an error that names it`(kind: SessionKind) async throws {
        try await withServer { connection, request in
            // With a length and without one.
            let body = String(repeating: "x", count: request.line.contains("/token") ? 1000 : 1001)
            if connection.number.isMultiple(of: 2) {
                connection.reply(200, body)
            } else {
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)")
            }
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url], bodyLimit: 1000)
            for _ in 0..<2 {
                #expect(try await session.data(for: URLRequest(url: try server.url)).0.count == 1000)
                let request = try post(server)
                for _ in 0..<2 {
                    await #expect(throws: BearerSessionError.bodyTooLong(limit: 1000)) {
                        try await session.data(for: request)
                    }
                }
                await #expect(throws: BearerSessionError.bodyTooLong(limit: 1000)) {
                    try await session.upload(for: request, from: Data())
                }
                #expect(try await session.contents(for: request).0.count == 1001)
            }
            #expect("\(BearerSessionError.bodyTooLong(limit: 1000))".contains("1000 bytes"))
        }
    }

    @Test func `no session, task or loader shows a secret`() throws {
        let url = try #require(URL(string: "https://user@api.example/path?key=s3cret"))
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpAdditionalHeaders = ["X-Key": "s3cret"]
        let service = AccessTokenService(
            loader: CallbackLoaderAdapter(of: ListLoader(.success(AccessToken(value: "A"))))
        )
        let session = BearerSession(tokens: service, origins: [url], configuration: configuration)
        var request = URLRequest(url: url)
        request.setValue("s3cret", forHTTPHeaderField: "X-Key")
        var endpoint = TokenEndpoint(url, authentication: .basic(clientID: "app", secret: "s3cret"), revocationURL: url)
        endpoint.configuration = configuration
        let store = MemoryCredentialStore(Credential(refreshToken: "s3cret", otherMembers: ["id_token": "s3cret"]))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let shown: [any Sendable] = [
            session, session.dataTask(with: request) { _, _, _ in }, endpoint, loader, RetryingLoader(loader),
            ThrottlingLoader(loader), store,
            AsyncBearerSession(
                tokens: AsyncAccessTokenService(loader: loader),
                origins: [url],
                configuration: configuration
            ),
            TokenEndpointReply(status: 400, body: Data("s3cret".utf8)),
            TokenResponse(accessToken: AccessToken(value: "A"), otherMembers: ["id_token": "s3cret"]),
        ]
        for value in shown { #expect(!everythingShown(by: value).contains("s3cret")) }
        #expect(everythingShown(by: endpoint).contains("/path"))
    }
}
