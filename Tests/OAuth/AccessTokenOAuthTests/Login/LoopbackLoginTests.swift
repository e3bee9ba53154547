import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import OAuthFoundation

@Suite("A login in the browser of this machine", .takesTurns, .endsHangs)
struct LoopbackLoginTests {
    private func login(
        _ redirectURI: String = "http://127.0.0.1/callback",
        clock: any AccessTokenClock = ManualClock()
    ) throws -> LoopbackLogin {
        let server = AuthorizationServer(
            authorizationURL: URL(string: "https://as.example/authorize"),
            tokenURL: URL(string: "https://as.example/token")
        )
        return try LoopbackLogin(at: server, clientID: "tool", redirectURI: redirectURI, clock: clock)
    }

    private func parameter(_ name: String, _ login: LoopbackLogin) throws -> String {
        let items = URLComponents(url: login.url, resolvingAgainstBaseURL: true)?.queryItems
        return try #require(items?.first { $0.name == name }?.value)
    }

    private func redirectURI(_ login: LoopbackLogin) throws -> URL {
        try #require(URL(string: try parameter("redirect_uri", login)))
    }

    private func port(_ login: LoopbackLogin) throws -> UInt16 {
        UInt16(try #require(try redirectURI(login).port))
    }

    /// What the browser gets for a request.
    private func answer(
        _ line: String,
        _ login: LoopbackLogin,
        at address: LoopbackAddress = .version4
    ) throws -> String {
        let connection = try SocketDescriptor.connected(to: address, toPort: try port(login))
        connection.send("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.finish()
    }

    private func isOpen(_ port: UInt16) -> Bool {
        guard let connection = try? SocketDescriptor.connected(toPort: port) else { return false }
        connection.close()
        return true
    }

    /// Whether the port of a login is closed after the login has ended.
    ///
    /// Another test may get the port as soon as it is free, but not three times.
    private func isClosed(
        by clock: any AccessTokenClock = ManualClock(),
        after end: (LoopbackLogin) async throws -> Void
    ) async throws -> Bool {
        for _ in 1...3 {
            let login = try login(clock: clock)
            let port = try port(login)
            try await end(login)
            if !isOpen(port) { return true }
        }
        return false
    }

    @Test func `takes one redirect, shows a page without scripts, and closes the port`() async throws {
        let isClosed = try await isClosed(after: takesOneRedirect)
        #expect(isClosed)
    }

    private func takesOneRedirect(_ login: LoopbackLogin) async throws {
        #expect(try redirectURI(login).absoluteString == "http://127.0.0.1:\(try port(login))/callback")
        let opened = Locked<[URL]>([])
        let task = Task { try await login.grant { url in opened.withLock { $0.append(url) } } }
        let page = try answer("GET /callback?code=c&state=\(try parameter("state", login))", login)
        let grant = try await task.valueInTime
        #expect(grant.parameters.contains { $0.name == "code" && $0.value == "c" })
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        #expect(page.contains("You can close this window") && page.contains("width=device-width"))
        #expect(page.contains("Content-Security-Policy: default-src 'none'") && !page.contains("<script"))
        #expect(opened.withLock { $0 } == [login.url] || opened.withLock { $0 } == [])
        await #expect(throws: LoginError.alreadyAnswered) { try await login.grant { _ in } }
    }

    @Test func `answers anything else with an empty 404, and waits on`() async throws {
        let login = try login()
        let (state, started) = (try parameter("state", login), Event())
        let task = Task { try await login.grant { _ in started.happen() } }
        await started.wait()
        for line in [
            "GET /favicon.ico", "GET /", "GET /callback", "GET /callback?code=c", "GET /callback?code=c&state=other",
            "GET /callback?error=access_denied", "GET /other?code=c&state=\(state)",
            "POST /callback?code=c&state=\(state)",
            "HEAD /callback?code=c&state=\(state)", "GET //callback?code=c&state=\(state)",
            "GET /callback/?code=c&state=\(state)", "GET /callback?code=c&state=\(state)&state=\(state)",
            "GET /@127.0.0.1/callback?code=c&state=\(state)", "OPTIONS *", "nonsense",
        ] {
            let answer = try answer(line, login)
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(line)")
            #expect(answer.hasSuffix("\r\n\r\n"), "\(line)")
        }
        // Browsers open connections that they may need, and say nothing on them.
        let silent = try SocketDescriptor.connected(toPort: try port(login))
        _ = try answer("GET /callback?code=c&state=\(state)", login)
        _ = try await task.valueInTime
        #expect(silent.rest().isEmpty)
    }

    @Test(arguments: [
        ("error=access_denied", 200, "was refused", "access_denied"),
        ("error=temporarily_unavailable", 200, "cannot log you in now", "temporarily_unavailable"),
        (
            "error=invalid_scope&error_description=%3Cscript%3Ealert(1)%3C/script%3E", 400, "did not work",
            "invalid_scope"
        ),
        ("code=a&code=b", 400, "did not work", "bad_redirect"), ("", 400, "did not work", "bad_redirect"),
    ])
    func `a refusal ends it, and the page says so in its own words`(
        query: String,
        status: Int,
        words: String,
        code: String
    ) async throws {
        let isClosed = try await isClosed { login in
            let task = Task { try await login.grant { _ in } }
            let page = try answer("GET /callback?\(query)&state=\(try parameter("state", login))", login)
            #expect(page.hasPrefix("HTTP/1.1 \(status) ") && page.contains(words) && !page.contains("script>"))
            let error = await #expect(throws: LoginError.self) { try await task.valueInTime }
            #expect(error?.logCode == code)
        }
        #expect(isClosed)
    }

    /// Browsers leave them raw in a query, and `URL` would encode every other escape anew then.
    @Test(arguments: ["|", "{a}", "^", "[a]", "`", "\\", #""a""#, "%zz", "%"])
    func `characters that are none of a URL change nothing else in the redirect`(raw: String) async throws {
        let login = try login()
        let task = Task { try await login.grant { _ in } }
        let page = try answer("GET /callback?code=4%2F0A%2Bb&x=\(raw)&state=\(try parameter("state", login))", login)
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        if !page.hasPrefix("HTTP/1.1 200 ") { task.cancel() }
        let code = try await task.valueInTime.parameters.first { $0.name == "code" }?.value
        #expect(code == "4/0A+b")
    }

    @Test func `a redirect that is faster than the call is not lost`() async throws {
        let login = try login()
        _ = try answer("GET /callback?code=c&state=\(try parameter("state", login))", login)
        let grant = try await login.grant { _ in Issue.record("there is nothing to open any more") }
        #expect(grant.parameters.contains { $0.value == "c" })
    }

    @Test func `ends after its time, when it is cancelled, and when nobody has it any more`() async throws {
        let clock = ManualClock()
        let slowIsClosed = try await isClosed(by: clock) { slow in
            let waiting = Task { try await slow.grant(within: 20) { _ in } }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 20)
            let error = await #expect(throws: LoginError.self) { try await waiting.valueInTime }
            #expect(error == .nobodyCameBack && error?.isDenied == true)
        }
        #expect(slowIsClosed)

        let leftIsClosed = try await isClosed(by: clock) { left in
            let cancelled = Task { try await left.grant { _ in } }
            await yieldUntil { clock.pendingTimers == 1 }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.valueInTime }
        }
        #expect(leftIsClosed)

        let forgotten = try port(try login())
        await yieldUntil { !isOpen(forgotten) }
    }

    @Test func `opens no browser for a call that is cancelled before`() async throws {
        let isClosed = try await isClosed { login in
            let isCancelled = Event()
            let task = Task {
                await isCancelled.wait()
                return try await login.grant { _ in Issue.record("nobody waits for this page") }
            }
            task.cancel()
            isCancelled.happen()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
        }
        #expect(isClosed)
    }

    #if os(macOS) || os(Linux)
    /// A terminal sends Ctrl-C to each process of the tool's group.
    @Test func `opens a browser that Ctrl-C in the terminal does not end`() async throws {
        let place = TemporaryFolder()
        let (browser, number) = (place.url.appending(path: "browser"), place.url.appending(path: "number"))
        // The pipe has no writer: the browser stays open until the test ends it.
        let script = """
            #!/bin/sh
            echo $$ >"$1.new" && mv "$1.new" "$1"
            read -r line <"$2"

            """
        try Data(script.utf8).write(to: browser)
        try place.setMode("browser", 0o700)
        #expect(unsafe mkfifo(place.path("pipe"), 0o600) == 0)
        SystemBrowser.run(browser.path, [number.path, place.path("pipe")])
        await yieldUntil { FileManager.default.fileExists(atPath: number.path) }
        let text = try String(contentsOf: number, encoding: .utf8)
        let id = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
        defer { kill(id, SIGKILL) }
        #expect(getpgid(id) == id)
        #expect(getpgid(id) != getpgrp())
    }
    #endif

    @Test func `does not share the two addresses of localhost with another program`() async throws {
        let other = try LoopbackHTTPServer(on: .version6, port: 0) { _, _ in .empty(404) }
        defer { other.stop() }
        let error = #expect(throws: LoginError.self) { try login("http://localhost:\(other.port)/callback") }
        #expect(error?.logCode == "port_taken" && error?.description.contains("\(other.port)") == true)
        // The first address is given back.
        await yieldUntil { (try? login("http://127.0.0.1:\(other.port)/callback")) != nil }
    }

    @Test func `with any port, takes another one where the second address of localhost is taken`() throws {
        let calls = Locked<[LoopbackAddress]>([])
        let servers = Locked<[LoopbackHTTPServer]>([])
        /// Listens, but refuses so many calls for the second address.
        func listeners(at uri: String, refusing count: Int, _ code: Int32) throws(LoginError) -> LoopbackListeners {
            calls.withLock { $0 = [] }
            return try LoopbackListeners(at: uri) { address, port throws(SocketFailure) in
                let seconds = calls.withLock { calls in
                    calls.append(address)
                    return calls.count { $0 == .version6 }
                }
                if address == .version6, seconds <= count { throw SocketFailure(call: "bind", code: code) }
                let server = try LoopbackHTTPServer(on: address, port: port) { _, _ in .empty(404) }
                servers.withLock { $0.append(server) }
                return server
            }
        }
        defer { for server in servers.withLock({ $0 }) { server.stop() } }
        let free = try listeners(at: "http://localhost/cb", refusing: 2, EADDRINUSE)
        #expect(calls.withLock { $0 } == [.version4, .version6, .version4, .version6, .version4, .version6])
        let last = servers.withLock { $0.suffix(2).map(\.port) }
        #expect(Set(last).count == 1 && free.redirectURI == "http://localhost:\(last[0])/cb")
        // The two former ports are free again. Another test may get one of them, but not three times.
        let areFree = try (0..<3).contains { round in
            if round > 0 { try listeners(at: "http://localhost/cb", refusing: 2, EADDRINUSE).close() }
            let ports = servers.withLock { $0.suffix(4).map(\.port) }
            return ports.dropLast(2).allSatisfy { !isOpen($0) || $0 == ports[3] }
        }
        #expect(areFree)
        free.close()
        var error = #expect(throws: LoginError.self) {
            try listeners(at: "http://localhost/cb", refusing: .max, EADDRINUSE)
        }
        #expect(error?.logCode == "port_taken" && calls.withLock { $0.count } == 32)
        // A machine without IPv6, and one that has the address and gives no socket.
        try listeners(at: "http://localhost/cb", refusing: .max, EAFNOSUPPORT).close()
        error = #expect(throws: LoginError.self) { try listeners(at: "http://localhost/cb", refusing: .max, EMFILE) }
        #expect(error?.logCode == "no_descriptor_left" && error?.isTransient == true)
        #expect(error?.description.contains("no file descriptor left") == true)
        error = #expect(throws: LoginError.self) { try listeners(at: "http://[::1]:80/cb", refusing: .max, EACCES) }
        #expect(error?.isConfigurationMistake == true && error?.description.contains("no right to port 80;") == true)
        error = #expect(throws: LoginError.self) { try listeners(at: "http://localhost/cb", refusing: .max, EPERM) }
        #expect(error?.description.contains("com.apple.security.network.server") == true)
    }

    @Test(arguments: [false, true])
    func `a user who comes too late is not told that the login has worked`(isCancelledBefore: Bool) async throws {
        let (answer, clock) = (LoopbackAnswer(), ManualClock())
        let login = try AuthorizationCodeLogin(
            at: AuthorizationServer(
                authorizationURL: URL(string: "https://as.example/authorize"),
                tokenURL: URL(string: "https://as.example/token")
            ),
            clientID: "tool",
            redirectURI: "http://127.0.0.1:1/callback"
        )
        answer.expect(login)
        let items = URLComponents(url: login.url, resolvingAgainstBaseURL: true)?.queryItems
        let state = try #require(items?.first { $0.name == "state" }?.value)
        let isCancelled = Event()
        let task = Task {
            if isCancelledBefore { await isCancelled.wait() }
            return await answer.outcome(within: 20, by: clock)
        }
        if isCancelledBefore {
            task.cancel()
            isCancelled.happen()
        } else {
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 20)
        }
        let outcome = await task.value
        #expect(throws: (any Error).self) { try outcome.get() }
        var reader = HTTPRequestReader()
        let text = "GET /callback?code=c&state=\(state) HTTP/1.1\r\nHost: x\r\n\r\n"
        guard case .complete(let request) = reader.append(Array(text.utf8)) else {
            Issue.record("no request")
            return
        }
        let page = String(decoding: answer.respond(to: request).bytes, as: UTF8.self)
        #expect(page.hasPrefix("HTTP/1.1 410 ") && page.contains("The login is over") && !answer.isThere)
    }

    @Test func `listens where the redirect URI says, at the port that it names`() async throws {
        // Another test may have this port of the other address, but not three times.
        let isOnlyThere = try (0..<3).contains { _ in
            let free = try login("http://[::1]/cb")
            return try withExtendedLifetime(free) { !isOpen(try port(free)) }
        }
        #expect(isOnlyThere)
        let free = try login("http://[::1]/cb")
        #expect(try redirectURI(free).absoluteString == "http://[::1]:\(try port(free))/cb")
        let task = Task { try await free.grant { _ in } }
        _ = try answer("GET /cb?code=c&state=\(try parameter("state", free))", free, at: .version6)
        _ = try await task.valueInTime

        for address in [LoopbackAddress.version4, .version6] {
            let both = try login("http://localhost/")
            let task = Task { try await both.grant { _ in } }
            _ = try answer("GET /?code=c&state=\(try parameter("state", both))", both, at: address)
            _ = try await task.valueInTime
        }

        let first = try login()
        let taken = "http://127.0.0.1:\(try port(first))/callback"
        let error = #expect(throws: LoginError.self) { try login(taken) }
        let inUse = try port(first)
        #expect(error?.isTransient == true && error?.description.contains("\(inUse)") == true)
    }

    @Test(arguments: [
        "https://127.0.0.1/callback", "http://app.example/callback", "http://127.0.0.2/", "http://0.0.0.0/",
        "app:/callback",
        "http://127.0.0.1/callback#a", "http://user@127.0.0.1/", "http://127.0.0.1:99999/", "",
        "http://localhost.evil.example/",
    ])
    func `listens nowhere else`(redirectURI: String) {
        #expect(throws: LoginError.self) { try login(redirectURI) }
    }

    @Test func `shows no secret`() async throws {
        let login = try login()
        #expect(!everythingShown(by: login).contains(try parameter("state", login)))
    }

    @Test func `logs in at the loopback server, by its page and its form`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let found = try await AuthorizationServer.discover(server.issuer)
        let endpoint = try found.tokenEndpoint(.none(clientID: RotatingAuthorizationServer.clientID))
        for (user, name) in [("alice", "alice"), ("bob", "bob"), ("refuse", nil)] {
            let login = try LoopbackLogin(at: found, clientID: RotatingAuthorizationServer.clientID, scope: "read")
            let task = Task { try await login.grant { _ in } }
            let page = try server.answer(to: "GET /authorize?\(try #require(login.url.query)) HTTP/1.1\r\n\r\n")
            #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("loopback-client"))
            let location = try server.decide(
                "/authorize",
                "request=\(FormEncoding.encoded(login.url.query ?? ""))&user=\(user)"
            )
            let target = try #require(URLComponents(string: location))
            _ = try answer("GET \(target.percentEncodedPath)?\(target.percentEncodedQuery ?? "")", login)
            guard let name else {
                let error = await #expect(throws: LoginError.self) { try await task.valueInTime }
                #expect(error?.isDenied == true)
                continue
            }
            let grant = try await task.valueInTime
            let response = try await endpoint.exchange(grant)
            let resource = "GET /resource HTTP/1.1\r\nAuthorization: Bearer \(response.accessToken.value)\r\n\r\n"
            #expect(try server.answer(to: resource).hasSuffix(#""user":"\#(name)"}"#))
            // RFC 6749, section 4.1.2: the second use revokes what the first one brought.
            await refuses("invalid_grant") { _ = try await endpoint.exchange(grant) }
            #expect(try !server.serves(response.accessToken.value))
        }
    }
}

extension RotatingAuthorizationServer {
    /// Posts a form of a page, and says where the browser is sent; an empty text is nowhere.
    func decide(_ path: String, _ form: String) throws -> String {
        let head = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)"
        let answer = try answer(to: "POST \(path) HTTP/1.1\r\n\(head)\r\n\r\n\(form)")
        let field = answer.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }
        return field.map { String($0.dropFirst(10)) } ?? ""
    }
}
