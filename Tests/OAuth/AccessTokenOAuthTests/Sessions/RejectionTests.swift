import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import OAuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A rejected token", .takesTurns, .endsHangs)
struct RejectionTests {
    private let origin: WebOrigin
    private let now = Date(timeIntervalSince1970: 0)

    init() throws {
        let url = try #require(URL(string: "https://one.example/"))
        origin = try #require(WebOrigin(of: url))
    }

    private func place(_ methodAndPath: String) -> RejectionHistory.Place {
        RejectionHistory.Place(origin: origin, methodAndPath: methodAndPath)
    }

    /// A token endpoint that rotates, and resources that reject a token if `isRejected` says so of its number and their
    /// path.
    private func withRotation(
        refusingWith status: Int = 401,
        fields: [String: String] = [:],
        body: String = "",
        _ isRejected: @escaping @Sendable (_ token: Int, _ path: String) -> Bool,
        _ run: (ScriptedServer, StrictSession, AsyncAccessTokenService) async throws -> Void
    ) async throws {
        let session = StrictSession()
        try await withServer { connection, request in
            if request.line.contains("/token") {
                let number = session.rotate(request.body)
                return connection.reply(200, tokens("A\(number ?? 0)", "RT\(number ?? 0)"))
            }
            let token = Int((request.fields["authorization"] ?? "").dropFirst("Bearer A".count)) ?? 0
            let path = String(request.line.split(separator: " ")[1])
            let isBad = isRejected(token, path)
            connection.reply(isBad ? status : 200, isBad ? body : "", fields: isBad ? fields : [:])
        } _: { server in
            let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(start))
            try await run(server, session, AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline))
        }
    }

    private func request(_ server: ScriptedServer, _ path: String = "resource", _ method: String = "GET") throws
        -> URLRequest
    {
        var request = URLRequest(url: try server.url.deletingLastPathComponent().appendingPathComponent(path))
        request.httpMethod = method
        return request
    }

    // MARK: 403

    @Test(arguments: SessionKind.allCases)
    func `a 403 is none unless the app says so, and one for another scope is none even then`(kind: SessionKind)
        async throws
    {
        let scope = #"Bearer realm="a, b", error="insufficient_scope", scope="x""#
        let cases: [(isTaken: Bool, fields: [String: String], body: String, rotations: Int)] = [
            (false, [:], "", 0), (true, [:], "", 1), (true, ["WWW-Authenticate": scope], "", 0),
            (true, [:], #"{"error":"insufficient_scope"}"#, 0),
            (true, ["WWW-Authenticate": #"Bearer error="invalid_token""#], #"{"error":"insufficient_scope"}"#, 1),
        ]
        for (isTaken, fields, body, rotations) in cases {
            try await withRotation(refusingWith: 403, fields: fields, body: body) { token, _ in
                token == 0
            } _: { server, session, service in
                let bearer = kind.session(
                    service,
                    origins: [try server.url],
                    isRejected: { $0.status == 401 || (isTaken && $0.status == 403) }
                )
                let status = try await bearer.data(for: request(server)).1.status
                #expect(status == (rotations == 1 ? 200 : 403) && session.sent.count == rotations)
            }
        }
    }

    /// RFC 9470, section 3: the next token would be of the same login.
    @Test(arguments: SessionKind.allCases)
    func `a 401 that asks for another login reaches the caller, costs no renewal, and does not pause the origin`(
        kind: SessionKind
    ) async throws {
        let challenge = #"Bearer error="insufficient_user_authentication", max_age="300""#
        try await withRotation(fields: ["WWW-Authenticate": challenge]) { _, path in
            path.contains("transfer")
        } _: { server, session, service in
            let bearer = kind.session(
                service,
                origins: [try server.url],
                onRenewalPause: { Issue.record("\($0)") }
            )
            for path in (0..<4).map({ "transfer/\($0)" }) {
                let response = try await bearer.data(for: request(server, path)).1 as? HTTPURLResponse
                #expect(response?.statusCode == 401)
                #expect(response?.value(forHTTPHeaderField: "WWW-Authenticate") == challenge)
            }
            #expect(session.sent.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("Bearer error=\"invalid_token\"", "invalid_token"),
            ("bEaReR error=insufficient_scope", "insufficient_scope"),
            ("Bearer", nil), ("", nil), ("Bearer realm=\"error=x\"", nil), ("Basic error=\"x\"", nil),
            ("Basic realm=\"a\\\", Bearer error=b\", Bearer error=\"c\"", "c"),
            ("Bearer scope=\"a b\" , ERROR = \"d\"", "d"),
            ("Digest qop=\"auth\", error=\"x\", Bearer realm=\"y\"", nil), ("Bearer error=\"unfinished", "unfinished"),
            ("Bearer realm=\"a\", error=\"b\", Basic realm=\"c\"", "b"), ("Bearer =", nil), ("=,=\"", nil),
        ] as [(String, String?)]
    )
    func `the error of a Bearer challenge is found among others`(field: String, error: String?) {
        #expect(BearerChallenge.errors(in: field).first == error)
    }

    // MARK: Useless renewals

    @Test(arguments: SessionKind.allCases)
    func `a resource that refuses every token costs two renewals and then one a minute`(kind: SessionKind) async throws
    {
        try await withRotation { _, _ in
            true
        } _: { server, session, service in
            let clock = ManualClock()
            let pauses = Locked<[RenewalPause]>([])
            let bearer = kind.session(
                service,
                origins: [try server.url],
                onRenewalPause: { pause in pauses.withLock { $0.append(pause) } },
                clock: clock
            )
            for path in (0..<20).map({ "resource/\($0)" }) {
                #expect(try await bearer.data(for: request(server, path)).1.status == 401)
            }
            #expect(session.sent == ["RT0", "RT1"])
            let origin = "http://127.0.0.1:\(try #require(try server.url.port))"
            #expect(pauses.withLock { $0 } == [RenewalPause(origin: origin, status: 401, seconds: 60)])
            for minute in 1...3 {
                clock.advance(by: 60)
                for _ in 0..<5 { _ = try await bearer.data(for: request(server)) }
                #expect(session.sent.count == 2 + minute && pauses.withLock { $0.count } == 1 + minute)
            }
            #expect(!session.isRevoked)
        }
    }

    @Test func `a resource that refuses beside one that accepts costs no more`() async throws {
        try await withRotation { _, path in
            path.contains("admin")
        } _: { server, session, service in
            let bearer = SessionKind.async.session(service, origins: [try server.url])
            for _ in 0..<20 {
                #expect(try await bearer.data(for: request(server, "admin")).1.status == 401)
                #expect(try await bearer.data(for: request(server, "public")).1.status == 200)
            }
            #expect(session.sent.count == 2)
        }
    }

    @Test func `a crowd that is refused counts as one renewal`() async throws {
        try await withRotation { _, _ in
            true
        } _: { server, session, service in
            let bearer = SessionKind.async.session(service, origins: [try server.url])
            for _ in 0..<4 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 { group.addTask { _ = try await bearer.data(for: request(server)) } }
                    try await group.waitForAll()
                }
            }
            // In a crowd some are told of the first token late, and the second renewal may begin before the first crowd
            // is over.
            #expect((2...3).contains(session.sent.count))
        }
    }

    @Test func `renewals that help are never paused, however many come`() async throws {
        // Each token is good for one request.
        let used = Locked<Set<Int>>([])
        try await withRotation { token, _ in
            used.withLock { !$0.insert(token).inserted }
        } _: { server, session, service in
            let bearer = SessionKind.async.session(
                service,
                origins: [try server.url],
                onRenewalPause: { Issue.record("\($0)") }
            )
            for number in 0..<10 {
                #expect(try await bearer.data(for: request(server, "\(number)")).1.status == 200)
            }
            #expect(session.sent.count == 9)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `renewals that help streams with paths of their own are never paused`(kind: SessionKind) async throws {
        // Each token is good for one request. The body comes in chunks, which the scripted server does not take.
        let used = Locked<Set<String>>([])
        let server = try LoopbackHTTPServer(port: 0) { descriptor, _ in
            let head = String(decoding: descriptor.receive(upTo: 65_536), as: UTF8.self)
            let token = head.firstMatch(of: /Bearer (\w+)/).map { "\($0.1)" } ?? ""
            let connection = ScriptedConnection(number: 1, descriptor: descriptor)
            connection.reply(used.withLock { $0.insert(token).inserted } ? 200 : 401, "")
            connection.end()
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let session = kind.session(
            AsyncAccessTokenService(loader: CountingLoader(), policy: .withoutLoadDeadline),
            origins: [url],
            onRenewalPause: { Issue.record("\($0)") }
        )
        var statuses: [Int] = []
        for number in 0..<10 {
            var request = URLRequest(url: url.appendingPathComponent("upload/\(number)"))
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            statuses.append(try await session.data(for: request).1.status)
        }
        #expect(statuses == Array(repeating: [200, 401], count: 5).flatMap(\.self))
        await onThreadOfItsOwn { server.stop() }
    }

    @Test func `a request that was abandoned before its renewal does not count against those that renewals helped`() {
        var history = RejectionHistory()
        for number in 1...4 {
            #expect(history.rejected("A\(number)", at: place("GET /list"), now) == .renew)
            // The screen that shows the picture is closed.
            #expect(history.rejected("A\(number)", at: place("GET /picture/\(number)"), now) == .renew)
            history.accepted("A\(number + 1)", at: place("GET /list"))
        }
    }

    @Test func `a place that refuses every token does not pause the renewal that another place needs later`() {
        var history = RejectionHistory()
        #expect(["A", "B"].map { history.rejected($0, at: place("GET /admin"), now) } == [.renew, .renew])
        history.accepted("C", at: place("GET /items"))
        // An hour later C expires.
        #expect(history.rejected("C", at: place("GET /items"), now + 3600) == .renew)
        history.accepted("D", at: place("GET /items"))
        // The place that refuses every token is paused as before.
        let later = ["D", "E", "F"].map { history.rejected($0, at: place("GET /admin"), now + 3600) }
        #expect(later == [.renew, .renew, .pause])
    }

    @Test func `a place that refuses every token is paused, although each renewal ends a token used elsewhere`() {
        var history = RejectionHistory()
        var verdicts: [RejectionHistory.Verdict] = []
        for number in 1...3 {
            verdicts.append(history.rejected("A\(number)", at: place("GET /admin"), now))
            history.accepted("A\(number)", at: place("GET /items"))
            _ = history.rejected("A\(number)", at: place("GET /items"), now)
        }
        #expect(verdicts == [.renew, .renew, .pause])
    }

    @Test func `a stream that is always refused is paused, although the server takes the tokens elsewhere`() {
        var history = RejectionHistory()
        func rejected(_ token: String, _ path: String) -> RejectionHistory.Verdict {
            history.rejected(token, at: place(path), now)
        }
        var verdicts: [RejectionHistory.Verdict] = []
        for token in ["A", "B", "C"] {
            history.accepted(token, at: place("GET /other"))
            verdicts.append(rejected(token, "POST /refused"))
        }
        #expect(verdicts == [.renew, .renew, .pause])
        history.accepted("C", at: place("GET /other"))
        #expect(rejected("C", "POST /new") == .answer)
    }

    @Test func `streams that are refused at ever new paths are paused, although the server takes the tokens elsewhere`()
    {
        var history = RejectionHistory()
        var number = 0
        func refusedStream() -> RejectionHistory.Verdict {
            number += 1
            history.accepted("A\(number)", at: place("GET /other"))
            return history.rejected("A\(number)", at: place("POST /\(number)"), now)
        }
        #expect((1...2).map { _ in refusedStream() } == [.renew, .renew])
        // A stream with a path of its own helps the next ones.
        history.accepted("A3", at: place("POST /taken"), isStream: true)
        #expect((1...6).map { _ in refusedStream() } == [.renew, .renew, .renew, .pause, .answer, .answer])
    }

    @Test func `a server that accepts again ends the pause`() async throws {
        let isDown = Locked(true)
        try await withRotation { token, _ in
            isDown.withLock { $0 } || token == 3
        } _: { server, session, service in
            let bearer = SessionKind.async.session(service, origins: [try server.url])
            for _ in 0..<4 { _ = try await bearer.data(for: request(server)) }
            isDown.withLock { $0 = false }
            #expect(try await bearer.data(for: request(server)).1.status == 200)
            await service.invalidate(AccessToken(value: "A2"))
            // The third token is rejected, and renewed at once.
            #expect(try await bearer.data(for: request(server)).1.status == 200)
            #expect(session.sent.count == 4)
        }
    }

    @Test func `another origin has renewals of its own`() {
        var history = RejectionHistory()
        func place(_ host: String, _ path: String = "GET /") throws -> RejectionHistory.Place {
            let url = try #require(URL(string: "https://\(host)/"))
            return RejectionHistory.Place(origin: try #require(WebOrigin(of: url)), methodAndPath: path)
        }
        #expect(throws: Never.self) {
            let (one, two) = (try place("one.example"), try place("two.example"))
            #expect(["A", "A", "B", "A", "B", "C"].map { history.rejected($0, at: one, now) }.last == .pause)
            #expect(history.rejected("C", at: two, now) == .renew)
            #expect(history.rejected("D", at: one, now) == .answer)
            history.accepted("C", at: try place("one.example", "POST /"))
            #expect(history.rejected("D", at: one, now + 59) == .answer)
            // A clock that was set back ends a pause, which costs one renewal.
            var earlier = history
            #expect(
                earlier.rejected("D", at: one, now - 1) == .renew && earlier.rejected("E", at: one, now - 1) == .pause
            )
            history.accepted("D", at: one)
            #expect(history.rejected("D", at: one, now + 59) == .renew)
        }
    }
}

/// Brings another token with each load.
private final class CountingLoader: AsyncAccessTokenLoader {
    private let number = Locked(0)

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        AccessToken(
            value: number.withLock { number in
                number += 1
                return "A\(number)"
            }
        )
    }

    func signOut() async {}
}
