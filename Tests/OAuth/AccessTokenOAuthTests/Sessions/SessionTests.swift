import AccessTokenAdapters
import AccessTokenSynchronization
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import OAuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session of either kind", .takesTurns, .endsHangs)
struct SessionTests {
    @Test(arguments: SessionKind.allCases)
    func `sends the token as RFC 6750 says, over and over with a body of its own`(kind: SessionKind) async throws {
        try await withServer { connection, request in
            connection.reply(200, request.body, fields: ["X-Own": "1"])
        } _: { server in
            let service = AsyncAccessTokenService(loader: ListLoader(.success(AccessToken(value: "at"))))
            let session = kind.session(service, origins: [try server.url])
            var request = URLRequest(url: try server.resource)
            request.httpMethod = "PUT"
            for body in ["one", "two", "three"] {
                request.httpBody = Data(body.utf8)
                let (data, response) = try await session.data(for: request)
                #expect(String(decoding: data, as: UTF8.self) == body)
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "x-own") == "1")
            }
            #expect(server.authorizations == Array(repeating: "Bearer at", count: 3))
            #expect(server.requests.map(\.line) == Array(repeating: "PUT /resource HTTP/1.1", count: 3))
        }
    }

    /// A 401 with and without a challenge; a 403 and a second 401 go to the caller.
    @Test(
        arguments: [
            (401, #"Bearer error="invalid_token""#, true), (401, #"bEaReR realm="a,b", error="invalid_token""#, true),
            (401, nil, true), (403, #"Bearer error="insufficient_scope""#, false), (401, nil, false),
        ] as [(Int, String?, Bool)],
        SessionKind.allCases
    )
    func `repeats a request once with the next token, and invalidates no other`(
        rejection: (status: Int, challenge: String?, isServed: Bool),
        kind: SessionKind
    ) async throws {
        let (status, challenge, isServed) = rejection
        let attempts = status == 401 ? 2 : 1
        let fields = challenge.map { ["WWW-Authenticate": $0] } ?? [:]
        try await withServer { connection, _ in
            let isRejected = connection.number < attempts || !isServed
            // Of a 401 the head is enough: this page is longer than the session's limit.
            let body = isRejected && connection.number < attempts ? "long" : "end"
            connection.reply(isRejected ? status : 200, body, fields: isRejected ? fields : [:])
        } _: { server in
            let (service, loader) = ListLoader.service()
            let session = kind.session(service, origins: [try server.url], bodyLimit: 3)
            let (data, response) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(response.status == (isServed ? 200 : status) && String(decoding: data, as: UTF8.self) == "end")
            #expect(server.authorizations == ["Bearer A1", "Bearer A2"].prefix(attempts).map { $0 })
            #expect(loader.loads == attempts && service.currentToken == AccessToken(value: "A\(attempts)"))
        }
    }

    private func transport(to origin: URL) -> BearerTransport {
        BearerTransport(origins: [origin], allowsInsecureHTTP: false, configuration: .keepingNothing, bodyLimit: 0)
    }

    @Test func `sends nothing for a caller that had left before`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let transport = transport(to: try server.url)
            let request = URLRequest(url: try server.resource)
            @Sendable func send(until cancellation: Latch) async -> HTTPExchange.Outcome {
                await withCheckedContinuation { continuation in
                    transport.send(request, with: AccessToken(value: "A"), until: cancellation) {
                        continuation.resume(returning: $0.outcome)
                    }
                }
            }
            let left = Latch()
            left.fire()
            await #expect(throws: HTTPFailure.self) { try await send(until: left).get() }
            _ = try await send(until: Latch()).get()
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `sends a body from a stream once, and the next one with the next token`(kind: SessionKind) async throws {
        // The body comes in chunks, which the scripted server does not take.
        let server = try LoopbackHTTPServer(port: 0) { descriptor, _ in
            let head = String(decoding: descriptor.receive(upTo: 65_536), as: UTF8.self)
            let connection = ScriptedConnection(number: 1, descriptor: descriptor)
            connection.reply(head.contains("Bearer A1") ? 401 : 200, "")
            connection.end()
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let (service, loader) = ListLoader.service()
        let session = kind.session(service, origins: [url])
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        for status in [401, 200] {
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            #expect(try await session.data(for: request).1.status == status)
        }
        #expect(loader.loads == 2)
        await onThreadOfItsOwn { server.stop() }
    }

    @Test(arguments: SessionKind.allCases)
    func `makes one exchange of two hundred 401s, and none of a late one`(kind: SessionKind) async throws {
        let callers = 200
        let gate = Gate()
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
        let loader = OAuthLoader(endpoint: server.endpoint, store: store)
        let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
        let old = try await service.token()
        // Says late that it does not know the first token.
        try await withServer { connection, request in
            let isOld = request.fields["authorization"] == "Bearer \(old.value)"
            if isOld { gate.pass() }
            connection.reply(isOld ? 401 : 200, "")
        } _: { lateServer in
            let patient = URLSessionConfiguration.keepingNothing
            patient.timeoutIntervalForRequest = 3600
            let lateSession = kind.session(service, origins: [try lateServer.url], configuration: patient)
            let late = Task { try await lateSession.data(for: URLRequest(url: try lateServer.resource)).1.status }
            await yieldUntil { lateServer.requests.count == 1 }

            server.expireAccessTokens()
            let sessions = (0..<4).map { _ in kind.session(service, origins: [server.resource]) }
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

    @Test(arguments: [CancellationError(), OAuthError.refused("invalid_grant")] as [any Error], SessionKind.allCases)
    func `hands on what the service says instead of a token`(error: any Error, kind: SessionKind) async throws {
        let url = try #require(URL(string: "https://api.example"))
        let session = kind.session(AsyncAccessTokenService(loader: ListLoader(.failure(error))), origins: [url])
        let thrown = await #expect(throws: (any Error).self) { try await session.data(for: URLRequest(url: url)) }
        #expect(thrown.map { "\($0)" } == "\(error)")
    }

    @Test(
        arguments: [
            ("https://api.example", "https://other.example", .originNotAllowed("https://other.example:443")),
            ("https://api.example", "https://api.example:8443", .originNotAllowed("https://api.example:8443")),
            ("https://api.example", "ftp://api.example", .originNotAllowed("ftp:")),
            ("https://api.example", "https://user@api.example", .authorizationAlreadySet),
            ("http://api.example", "http://api.example", .insecureOrigin("http://api.example:80")),
            ("http://127.example", "http://127.example", .insecureOrigin("http://127.example:80")),
            ("https://user@API.example:443/x?y", "HTTPS://api.EXAMPLE", nil), ("http://[::1]", "http://[::1]", nil),
            ("http://127.0.0.1", "http://127.0.0.1", nil), ("http://localhost", "http://LOCALHOST", nil),
            ("https://bücher.example", "https://xn--bcher-kva.example", nil),
        ] as [(String, String, BearerSessionError?)]
    )
    func `sends a token to its origins only, and not in the clear`(
        origin: String,
        url: String,
        error: BearerSessionError?
    )
        throws
    {
        let transport = transport(to: try #require(URL(string: origin)))
        #expect(transport.refusal(of: URLRequest(url: try #require(URL(string: url)))) == error)
    }

    @Test(arguments: SessionKind.allCases)
    func `loads and sends nothing for a request that is refused`(kind: SessionKind) async throws {
        let url = try #require(URL(string: "http://api.invalid"))
        let (service, loader) = ListLoader.service()
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpAdditionalHeaders = ["authorization": "Basic x"]
        var own = URLRequest(url: url)
        own.setValue("Basic x", forHTTPHeaderField: "Authorization")
        let sessions = [
            (kind.session(service, origins: []), BearerSessionError.originNotAllowed("http://api.invalid:80")),
            (kind.session(service, origins: [url]), .insecureOrigin("http://api.invalid:80")),
            (kind.session(service, origins: [url], configuration: configuration), .authorizationAlreadySet),
        ]
        for (session, error) in sessions {
            await #expect(throws: error) { try await session.data(for: URLRequest(url: url)) }
            await #expect(throws: BearerSessionError.authorizationAlreadySet) { try await session.data(for: own) }
        }
        #expect(loader.loads == 0)
        for value in ["", "A\r\nX-Evil: 1", "A B", "é"] {
            let broken = AsyncAccessTokenService(loader: ListLoader(.success(AccessToken(value: value))))
            let session = kind.session(broken, origins: [url], allowsInsecureHTTP: true)
            await #expect(throws: BearerSessionError.unsendableToken) {
                try await session.data(for: URLRequest(url: url))
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], SessionKind.allCases)
    func `follows a redirect of a GET within the origin, and no other`(status: Int, kind: SessionKind) async throws {
        try await withServer(replying: 200) { stranger in
            let places = [
                "/inside": "token?a=b%20c", "/outside": try stranger.resource.absoluteString, "/circle": "circle",
            ]
            try await withServer { connection, request in
                let place = places[String(request.line.split(separator: " ")[1])]
                connection.reply(place == nil ? 200 : status, "", fields: place.map { ["Location": $0] } ?? [:])
            } _: { server in
                let (service, loader) = ListLoader.service()
                let session = kind.session(service, origins: [try server.url, try stranger.url])
                func reply(_ path: String, method: String = "GET") async throws -> (URLResponse, [ReceivedRequest]) {
                    let before = server.requests.count
                    var request = URLRequest(
                        url: try server.url.deletingLastPathComponent().appendingPathComponent(path)
                    )
                    request.httpMethod = method
                    let response = try await session.data(for: request).1
                    return (response, Array(server.requests[before...]))
                }
                let (inside, requests) = try await reply("inside")
                #expect(inside.status == 200 && inside.url?.path == "/token")
                #expect(requests.map { $0.fields["authorization"] } == ["Bearer A1", "Bearer A1"])
                #expect(requests.last?.line == "GET /token?a=b%20c HTTP/1.1")
                let (posted, posts) = try await reply("inside", method: "POST")
                #expect(posted.status == status && posts.count == 1)
                // That the other origin is allowed as well makes no difference: the caller did not ask it.
                let (outside, _) = try await reply("outside")
                #expect(outside.status == status && stranger.requests.isEmpty)
                let (circle, circles) = try await reply("circle")
                #expect(circle.status == status && circles.count == 21)
                #expect(loader.loads == 1)
            }
        }
    }

    @Test func `of callback code calls its handlers on the queue given, after the call, one at a time`() async throws {
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        let mark = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: mark, value: true)
        let answers = Locked<(isOnQueue: [Bool], inside: Int, most: Int)>(([], 0, 0))
        let done = Event()
        let service = AsyncAccessTokenService(loader: ListLoader(.success(AccessToken(value: "A"))))
        let url = try Nobody.url
        // The session is dropped at once.
        let session = BearerSession(tokens: CallbackServiceAdapter(of: service), origins: [url], handlerQueue: queue)
        for number in 0..<50 {
            let retrieval = session.data(for: URLRequest(url: number % 5 == 0 ? url.appendingPathComponent("x") : url))
            { _ in
                answers.withLock { answers in
                    answers.isOnQueue.append(DispatchQueue.getSpecific(key: mark) == true)
                    answers.inside += 1
                    answers.most = max(answers.most, answers.inside)
                }
                let isLast = answers.withLock { answers in
                    answers.inside -= 1
                    return answers.isOnQueue.count == 50
                }
                if isLast { done.happen() }
            }
            if number.isMultiple(of: 2) { retrieval.cancel() }
        }
        await done.wait()
        #expect(answers.withLock { $0.isOnQueue } == Array(repeating: true, count: 50))
        #expect(answers.withLock { $0.most } == 1)
    }
}
