import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A login by device code", .takesTurns, .endsHangs)
struct DeviceLoginTests {
    private static let codes = #"""
        {"device_code":"the-device-code","user_code":"WDJB-MJHT","verification_uri":"https://as.example/device",
         "verification_uri_complete":"https://as.example/device?user_code=WDJB-MJHT","expires_in":600,"interval":2}
        """#

    /// A reply of the token endpoint.
    private typealias Reply = (status: Int, body: String, retryAfter: String?)

    private static func refusal(_ code: String, status: Int = 400) -> Reply {
        (status, #"{"error":"\#(code)","error_description":"Because"}"#, nil)
    }

    /// Begins a login at a server that answers the questions for a token so, one after the other.
    private func withLogin(
        codes: String = DeviceLoginTests.codes,
        _ replies: [Reply],
        server known: KnownServer? = nil,
        _ body: (DeviceLogin, PauseClock, ScriptedServer) async throws -> Void
    ) async throws {
        let questions = Locked(0)
        try await withServer { connection, request in
            guard !request.line.contains("/device") else { return connection.reply(200, codes) }
            let number = questions.withLock { count in
                defer { count += 1 }
                return count
            }
            let reply = replies[min(number, replies.count - 1)]
            // A connection that just closes.
            guard reply.status != 0 else { return }
            connection.reply(reply.status, reply.body, fields: reply.retryAfter.map { ["Retry-After": $0] } ?? [:])
        } _: { server in
            let clock = PauseClock()
            let place = try server.url.deletingLastPathComponent().appending(path: "device")
            let found = AuthorizationServer(tokenURL: try server.url, deviceAuthorizationURL: place)
            var endpoint = clock.endpoint(try server.url, "app")
            endpoint.server = known
            let login = try await DeviceLogin(at: found, with: endpoint, scope: "read")
            try await body(login, clock, server)
        }
    }

    private func outcome(_ task: Task<TokenResponse, any Error>) async -> Result<TokenResponse, any Error> {
        do { return .success(try await task.valueInTime) } catch { return .failure(error) }
    }

    @Test func `shows code and address, and has the token when the user has agreed`() async throws {
        try await withLogin([Self.refusal("authorization_pending"), (200, tokens("A1", "RT1"), nil)]) {
            login,
            clock,
            server in
            #expect(login.userCode == "WDJB-MJHT")
            #expect(login.verificationURL.absoluteString == "https://as.example/device")
            #expect(login.completeVerificationURL?.query == "user_code=WDJB-MJHT")
            #expect(login.expiration == clock.now.addingTimeInterval(600))
            #expect(server.requests[0].body == "scope=read&client_id=app")
            let task = Task { try await login.response() }
            #expect(await clock.endPause() == 2)
            #expect(await clock.endPause() == 2)
            let response = try await task.valueInTime
            #expect(response.refreshToken == "RT1")
            let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=the-device-code"
            #expect(server.requests[1].body == grant + "&client_id=app")
            #expect(!everythingShown(by: login).contains("the-device-code"))
        }
    }

    /// The pauses before each question, in seconds.
    @Test(
        arguments: [
            ([refusal("authorization_pending"), refusal("authorization_pending")], [2, 2, 2]),
            ([refusal("slow_down"), refusal("authorization_pending"), refusal("slow_down")], [2, 7, 7, 12]),
            ([(400, refusal("slow_down").body, "30"), refusal("authorization_pending")], [2, 30, 7]),
            ([refusal("slow_down", status: 429)], [2, 7]), ([(429, "", nil)], [2, 7]), ([(429, "", "30")], [2, 30]),
            ([(503, "<html>", nil), (503, "", nil), refusal("authorization_pending")], [2, 4, 8, 2]),
            ([(503, "", "9")], [2, 9]),
            ([(0, "", nil), (0, "", nil)], [2, 4, 8]),
            ([refusal("invalid_grant"), refusal("invalid_grant")], [2, 2, 2]),
            ([(200, "<html>", nil), (200, "", nil), refusal("authorization_pending")], [2, 4, 8, 2]),
            ([(404, "", nil), (404, "", nil), refusal("authorization_pending")], [2, 4, 8, 2]),
            // Servers without a word for "not yet": Trakt, OpenAI, Twitch.
            ([(400, "", nil), (400, "", nil), (400, "", nil), (400, "", nil)], [2, 2, 2, 2, 2]),
            ([(403, "{}", nil), (403, "", nil)], [2, 2, 2]),
            ([(400, #"{"status":400,"message":"authorization_pending"}"#, nil)], [2, 2]),
            ([(403, #"{"error":{"code":"deviceauth_authorization_pending"}}"#, nil)], [2, 2]),
            ([(400, #"{"message":"slow down"}"#, nil)], [2, 7]),
        ] as [([(Int, String, String?)], [Int])]
    )
    func `asks again after what may pass`(_ replies: [(Int, String, String?)], _ pauses: [Int]) async throws {
        try await withLogin(replies.map { $0 } + [(200, tokens("A1"), nil)]) { login, clock, server in
            let task = Task { try await login.response() }
            for (index, pause) in pauses.enumerated() {
                #expect(await clock.endPause() == TimeInterval(pause), "question \(index + 1)")
            }
            let response = try await task.valueInTime
            #expect(response.accessToken.value == "A1")
            #expect(server.requests.count == pauses.count + 1)
        }
    }

    @Test(
        arguments: [
            ([refusal("access_denied")], "access_denied"), ([refusal("expired_token")], "device_code_expired"),
            ([refusal("authorization_pending"), refusal("invalid_grant")], "device_code_expired"),
            ([refusal("invalid_client", status: 401)], "invalid_client"), ([refusal("made_up")], "made_up"),
            ([(200, #"{"x":1}"#, nil), (200, #"{"x":1}"#, nil), (200, #"{"x":1}"#, nil)], "not_understood_200"),
            ([(404, "", nil), (404, "", nil), (404, "", nil)], "not_understood_404"),
            ([(410, "", nil)], "device_code_expired"),
            ([(400, #"{"status":400,"message":"invalid device code"}"#, nil)], "device_code_expired"),
            ([(403, #"{"error":{"message":"Device authorization code has expired."}}"#, nil)], "device_code_expired"),
            ([refusal("authorization_declined")], "access_denied"),
            (
                [(401, #"{"error":"invalid_client","error_description":"The secret has expired."}"#, nil)],
                "invalid_client"
            ),
            ([(302, "", nil)], "redirected_302"),
            ([(200, #"{"access_token":"A1","token_type":"mac"}"#, nil)], "unusable_token"),
        ] as [([(Int, String, String?)], String)]
    )
    func `ends with what will not pass`(_ replies: [(Int, String, String?)], _ code: String) async throws {
        try await withLogin(replies) { login, clock, server in
            let task = Task { try await login.response() }
            for _ in replies { _ = await clock.endPause() }
            guard case .failure(let error as any LoggableError) = await outcome(task) else {
                Issue.record("an error was expected")
                return
            }
            #expect(error.logCode == code)
            #expect((error as? LoginError)?.isDenied == (error is LoginError ? true : nil))
            #expect(server.requests.count == replies.count + 1)
            #expect(!everythingShown(by: error).contains("the-device-code"))
        }
    }

    /// What a bare 404 means is the server's: OpenAI's "not yet", and Trakt's "no such code".
    @Test(
        arguments: [
            (.trakt, [400, 400, 429, 404], "device_code_expired"), (.trakt, [400, 409], "device_code_expired"),
            (.trakt, [410], "device_code_expired"), (.trakt, [418], "access_denied"),
            (.openAI, [404, 403, 404, 404, 410], "device_code_expired"),
        ] as [(KnownServer, [Int], String)]
    )
    func `reads the statuses of a known server`(server: KnownServer, statuses: [Int], code: String) async throws {
        let replies: [Reply] = statuses.map { ($0, "", nil) }
        try await withLogin(replies, server: server) { login, clock, scripted in
            let task = Task { try await login.response() }
            for _ in statuses { _ = await clock.endPause() }
            guard case .failure(let error as LoginError) = await outcome(task) else {
                Issue.record("an error was expected")
                return
            }
            #expect(error.logCode == code)
            #expect(scripted.requests.count == statuses.count + 1)
        }
    }

    @Test func `ends when the code expires, however the server sees it`() async throws {
        let codes = Self.codes.replacing("600", with: "5")
        try await withLogin(codes: codes, [Self.refusal("authorization_pending")]) { login, clock, server in
            let task = Task { try await login.response() }
            #expect(await clock.endPause() == 2)
            #expect(await clock.endPause() == 2)
            #expect(await clock.endPause() == 1, "the rest of its life")
            guard case .failure(let error as LoginError) = await outcome(task) else {
                Issue.record("an error was expected")
                return
            }
            #expect(error == .deviceCodeExpired && error.isDenied)
            #expect(server.requests.count == 3)
        }
    }

    /// The user did nothing wrong: the client or the endpoint is another one than the server expects.
    @Test func `that nobody answers otherwise says with the expired code what the server had said last`() async throws {
        let codes = Self.codes.replacing("600", with: "5")
        try await withLogin(codes: codes, [Self.refusal("invalid_grant")]) { login, clock, _ in
            let task = Task { try await login.response() }
            for pause in [2.0, 2, 1] { #expect(await clock.endPause() == pause) }
            guard case .failure(let error as LoginError) = await outcome(task) else {
                Issue.record("an error was expected")
                return
            }
            #expect(error == .deviceCodeExpired && error.isDenied && error.logCode == "device_code_expired")
            #expect(error.code == "invalid_grant" && error.serverExplanation == "Because")
            #expect("\(error)".contains("invalid_grant") && !"\(error)".contains("Because"))
        }
    }

    /// The connection ends by itself when no reply can come any more, and no timer ends the wait before: the reply may
    /// have come while the process was stopped.
    @Test(arguments: [1, 4]) func `has the token of a server that answers after the deadline`(
        deadlines: Double
    ) async throws {
        let gate = Gate()
        try await withServer { connection, request in
            guard !request.line.contains("/device") else { return connection.reply(200, Self.codes) }
            gate.pass()
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let clock = ManualClock()
            let place = try server.url.deletingLastPathComponent().appending(path: "device")
            let found = AuthorizationServer(tokenURL: try server.url, deviceAuthorizationURL: place)
            let login = try await DeviceLogin(at: found, with: try server.endpoint(clock: clock))
            defer { gate.open() }
            let task = Task { try await login.response() }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 2)
            await yieldUntil { server.requests.count == 2 }
            clock.advance(by: deadlines * TokenEndpoint.usualDeadline)
            gate.open()
            let response = try await task.valueInTime
            #expect(response.refreshToken == "RT1" && server.requests.count == 2)
        }
    }

    @Test func `ends at once when it is cancelled`() async throws {
        try await withLogin([Self.refusal("authorization_pending")]) { login, clock, server in
            let task = Task { try await login.response() }
            await yieldUntil { clock.isPausing }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
            #expect(server.requests.count == 1 && !clock.isPausing)
        }
    }

    @Test(arguments: [
        (
            #"{"device_code":"d","user_code":"u","verification_url":"https://a/d","expires_in":"60","interval":"3"}"#,
            60.0, 3
        ),
        (#"{"device_code":"d","user_code":"u","verification_uri":"https://a/d"}"#, 900, 5),
        (
            #"{"device_code":"d","user_code":"u","verification_uri":"https://a/d","expires_in":1e300,"interval":0}"#,
            86_400, 1
        ),
        (
            // A code that does not expire, and no code with the usual life.
            #"{"device_code":"d","user_code":"u","verification_uri":"https://a/d","expires_in":-1,"interval":-1}"#,
            86_400, 5
        ),
        (#"{"device_code":"d","user_code":"u","verification_uri":"https://a/d","interval":1e9}"#, 900, 120),
        (#"{"deviceCode":"d","userCode":"u","verificationUri":"https://a/d","expiresIn":60,"interval":3}"#, 60, 3),
        (#"{"code":"d","user_code":"u","verification_uri":"https://a/d","expires_in":60,"interval":3}"#, 60, 3),
        ("device_code=d&user_code=u&verification_uri=https%3A%2F%2Fa%2Fd&expires_in=60&interval=3", 60, 3),
    ])
    func `takes the numbers that servers send`(codes: String, lifetime: TimeInterval, interval: Int) async throws {
        try await withLogin(codes: codes, [(200, tokens("A1"), nil)]) { login, clock, server in
            #expect(login.expiration == clock.now.addingTimeInterval(lifetime))
            let task = Task { try await login.response() }
            #expect(await clock.endPause() == TimeInterval(interval))
            _ = try await task.valueInTime
        }
    }

    @Test(arguments: [
        (200, "", "not_understood_200"), (200, "{}", "not_understood_200"), (400, "", "not_understood_400"),
        (400, #"{"error":"invalid_scope"}"#, "invalid_scope"), (401, #"{"error":"invalid_client"}"#, "invalid_client"),
        (200, #"{"error":"unauthorized_client"}"#, "unauthorized_client"), (503, "", "http_503"),
        (200, #"{"code":"invalid_client"}"#, "invalid_client"),
        (302, "", "redirected_302"),
        (200, #"{"device_code":"d","user_code":"u"}"#, "not_understood_200"),
        (200, #"{"device_code":"d","user_code":"u","verification_uri":"http://a/d"}"#, "not_understood_200"),
        (200, #"{"device_code":"d","user_code":"u","verification_uri":"javascript:a"}"#, "not_understood_200"),
        (200, #"{"device_code":"d","user_code":"\u001b[31m","verification_uri":"https://a/d"}"#, "not_understood_200"),
    ])
    func `says why there are no codes`(status: Int, body: String, code: String) async throws {
        try await withServer(replying: status, body) { server in
            let found = AuthorizationServer(tokenURL: try server.url, deviceAuthorizationURL: try server.url)
            do {
                _ = try await DeviceLogin(at: found, with: try server.endpoint())
                Issue.record("an error was expected")
            } catch {
                let error = try #require(error as? LoginError)
                #expect(error.logCode == code)
                #expect(error.description.contains("device authorization endpoint"))
            }
        }
    }

    @Test func `works against the loopback server, and a refusal is one`() async throws {
        let server = try RotatingAuthorizationServer(deviceInterval: 0)
        defer { server.stop() }
        let found = try await AuthorizationServer.discover(server.issuer)
        for user in ["alice", nil] {
            let clock = PauseClock()
            let endpoint = clock.endpoint(server.tokenEndpoint, RotatingAuthorizationServer.clientID)
            let login = try await DeviceLogin(at: found, with: endpoint)
            let task = Task { try await login.response() }
            #expect(server.decide(userCode: login.userCode.lowercased().replacing("-", with: " "), user: user))
            #expect(!server.decide(userCode: login.userCode, user: user))
            #expect(await clock.endPause() == 1)
            switch (user, await outcome(task)) {
            case (.some, .success(let response)): #expect(response.refreshToken != nil)
            case (nil, .failure(let error as LoginError)): #expect(error.isDenied)
            default: Issue.record("not what \(user ?? "nobody") has decided")
            }
        }
    }
}

/// A clock whose pauses a test ends; the deadlines of exchanges never come.
final class PauseClock: AccessTokenClock {
    private static let deadline: TimeInterval = 3600

    private struct State {
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        var pause: (seconds: TimeInterval, action: @Sendable () -> Void)?
    }

    private let state = Locked(State())

    var now: Date { state.withLock { $0.now } }
    var isPausing: Bool { state.withLock { $0.pause != nil } }

    func endpoint(_ url: URL, _ clientID: String) -> TokenEndpoint {
        TokenEndpoint(url, authentication: .none(clientID: clientID), deadline: Self.deadline, clock: self)
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        // A deadline is counted in two halves.
        guard delay < Self.deadline / 2 else { return AccessTokenTimer {} }
        state.withLock { $0.pause = (delay, action) }
        return AccessTokenTimer { [self] in _ = state.withLock { $0.pause.take() } }
    }

    /// Ends the next pause, and says how many seconds it took.
    func endPause() async -> TimeInterval? {
        await yieldUntil { isPausing }
        let pause = state.withLock { state in
            state.now += state.pause?.seconds ?? 0
            return state.pause.take()
        }
        pause?.action()
        return pause?.seconds
    }
}
