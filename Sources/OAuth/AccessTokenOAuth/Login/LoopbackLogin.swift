public import AccessTokenCore
public import Foundation
import OAuthFoundation

/// A login in the user's browser, for a program that listens on this machine for the redirect (RFC 8252, section 7.3).
///
/// ```swift
/// let login = try LoopbackLogin(at: server, clientID: "tool")
/// print("Opening your browser. If no page appears, open \(login.url)")
/// let response = try await endpoint.exchange(try await login.grant())
/// ```
///
/// It takes one redirect, with the right path and `state`. Anything else gets an empty 404, and the login goes on. The
/// user sees a short page without scripts, which says that the window can be closed or what went wrong. Then the port
/// is closed.
///
/// **Concurrency** Can be used from any thread. It listens from its creation on, on threads of its own.
public final class LoopbackLogin: Sendable {
    /// How many seconds a user has if nothing else is said: 300.
    public static let usualTimeLimit: TimeInterval = 300

    /// Where a program listens if nothing else is said: on 127.0.0.1, at a free port.
    public static let usualRedirectURI = "http://127.0.0.1/callback"

    /// The authorization request, for the user's browser; show it as well as open it.
    public let url: URL

    private let login: AuthorizationCodeLogin
    private let listeners: [LoopbackHTTPServer]
    private let clock: any AccessTokenClock
    private let answer: Answer

    private typealias Outcome = Result<TokenGrant, any Error>

    /// What the redirect brought, and the caller that waits for it.
    private final class Answer: Sendable {
        enum State: Sendable {
            case waiting
            case answered(Outcome)
        }

        let waiters = TimedWaiters<State, Outcome>(.waiting)
        /// Whether somebody has called for the grant, which is given once.
        let isAsked = Locked(false)
        /// It is made of the port, so that the listener is there before it.
        private let login = Locked<AuthorizationCodeLogin?>(nil)

        func expect(_ login: AuthorizationCodeLogin) { self.login.withLock { $0 = login } }

        func respond(to request: HTTPRequest?) -> HTTPResponse {
            guard let request, request.method == "GET", let login = login.withLock({ $0 }),
                let url = login.url(forTarget: request)
            else { return .empty(404) }
            let outcome: Outcome
            do throws(LoginError) {
                outcome = .success(try login.grant(from: url))
            } catch {
                // Another page of the browser, or another program: the user is still on the way.
                guard error != .foreignRedirect, error != .wrongState, error != .alreadyAnswered else {
                    return .empty(404)
                }
                outcome = .failure(error)
            }
            let waiting = waiters.withLock { state, waiters in
                state = .answered(outcome)
                defer { waiters = [] }
                return waiters
            }
            for waiter in waiting { waiter.end(with: outcome) }
            return LoginPages.closing(outcome)
        }
    }

    /// Listens at once.
    ///
    /// - Parameters:
    ///   - server: needs an ``AuthorizationServer/authorizationURL``.
    ///   - clientID: the client's identifier.
    ///   - redirectURI: as it is registered: `http`, `127.0.0.1`, `[::1]` or `localhost`, and a path. Without a port
    ///     the system chooses a free one, which a server has to accept (RFC 8252, section 7.3).
    ///   - scope: what to ask for; `nil` leaves that to the server.
    ///   - parameters: others, such as `prompt`, `login_hint` or `resource`.
    ///   - clock: counts the time limit.
    /// - Throws: ``LoginError``, also if the port is taken.
    public init(
        at server: AuthorizationServer,
        clientID: String,
        redirectURI: String = LoopbackLogin.usualRedirectURI,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:],
        clock: any AccessTokenClock = SystemClock()
    ) throws(LoginError) {
        let answer = Answer()
        let (listeners, ownURI) = try Self.listen(redirectURI) { request in answer.respond(to: request) }
        do throws(LoginError) {
            login = try AuthorizationCodeLogin(
                at: server,
                clientID: clientID,
                redirectURI: ownURI,
                scope: scope,
                parameters: parameters
            )
        } catch {
            Self.close(listeners)
            throw error
        }
        answer.expect(login)
        url = login.url
        self.listeners = listeners
        self.clock = clock
        self.answer = answer
    }

    deinit { Self.close(listeners) }

    /// Opens the browser, and waits for the redirect; the port is closed when this returns.
    ///
    /// **Cancellation** Ends the wait at once with `CancellationError`.
    ///
    /// **Failure** ``LoginError``: ``LoginError/nobodyCameBack`` if nobody came back, which is also how a closed window
    /// ends; what the server refused; ``LoginError/alreadyAnswered`` for a second call.
    ///
    /// - Parameters:
    ///   - limit: seconds that the user has.
    ///   - open: opens the URL; the system's browser if nothing else is said. A program that cannot open any still
    ///     waits: the user may have the URL from the screen.
    public func grant(
        within limit: TimeInterval = LoopbackLogin.usualTimeLimit,
        open: @Sendable (URL) -> Void = LoopbackLogin.openBrowser
    ) async throws -> TokenGrant {
        let isFirst = answer.isAsked.withLock { isAsked in
            defer { isAsked = true }
            return !isAsked
        }
        guard isFirst else { throw LoginError.alreadyAnswered }
        // A user who opened the URL by hand was faster, and nobody waits for the page of a cancelled login.
        if case .none = earlyOutcome, !Task.isCancelled { open(url) }
        let outcome = await answer.waiters.outcome(
            atMost: limit > 0 ? limit : Self.usualTimeLimit,
            by: clock,
            timedOut: .failure(LoginError.nobodyCameBack),
            cancelled: .failure(CancellationError())
        ) { state in
            if case .answered(let outcome) = state { outcome } else { nil }
        }
        await withCheckedContinuation { continuation in
            Self.close(listeners) { continuation.resume() }
        }
        return try outcome.get()
    }

    /// Opens a URL in the user's browser, by `open` or `xdg-open`, and does nothing where there is none.
    public static func openBrowser(at url: URL) { SystemBrowser.open(url) }

    private var earlyOutcome: Outcome? {
        answer.waiters.withLock { state, _ in if case .answered(let outcome) = state { outcome } else { nil } }
    }
}

extension AuthorizationCodeLogin {
    /// The URL that a request to this login's listener stands for.
    fileprivate func url(forTarget request: HTTPRequest) -> URL? {
        guard var parts = URLComponents(string: redirectURI) else { return nil }
        parts.percentEncodedPath = ""
        parts.percentEncodedQuery = nil
        return parts.string.flatMap { URL(string: $0 + request.path + (request.query.map { "?" + $0 } ?? "")) }
    }
}

extension LoopbackLogin {
    /// Listens where the redirect URI leads, and says what that is with its port.
    private static func listen(
        _ redirectURI: String,
        answer: @escaping @Sendable (HTTPRequest?) -> HTTPResponse
    ) throws(LoginError) -> ([LoopbackHTTPServer], String) {
        guard var parts = URLComponents(string: redirectURI), parts.scheme?.lowercased() == "http",
            let host = parts.percentEncodedHost?.lowercased(),
            let addresses = addresses[host.trimmingCharacters(in: ["[", "]"])]
        else { throw .unusable("the redirect URI is not http on 127.0.0.1, [::1] or localhost") }
        guard let wanted = UInt16(exactly: parts.port ?? 0) else {
            throw .unusable("the redirect URI has no such port")
        }
        var listeners: [LoopbackHTTPServer] = []
        for address in addresses {
            do throws(SocketFailure) {
                let port = listeners.first?.port ?? wanted
                listeners.append(try LoopbackHTTPServer(on: address, port: port) { request, _ in answer(request) })
            } catch {
                let taken = listeners.first?.port ?? wanted
                // A machine without the second address of localhost: browsers take the first.
                guard listeners.isEmpty || error.isPortTaken else { break }
                close(listeners)
                // Another program at the second address would get the code from the browser.
                if error.isPortTaken { throw .portTaken(taken) }
                throw .unusable("this machine gives no port to listen on (\(error.call), errno \(error.code))")
            }
        }
        parts.port = listeners.first.map { Int($0.port) }
        guard let text = parts.string else {
            close(listeners)
            throw .unusable("the redirect URI takes no port")
        }
        return (listeners, text)
    }

    private static let addresses: [String: [LoopbackAddress]] = [
        "127.0.0.1": [.version4], "::1": [.version6], "localhost": [.version4, .version6],
    ]

    /// On a thread of its own: it waits until the last page is sent.
    private static func close(_ listeners: [LoopbackHTTPServer], then done: @escaping @Sendable () -> Void = {}) {
        Thread.detachNewThread {
            for listener in listeners { listener.stop() }
            done()
        }
    }
}

extension LoopbackLogin: CustomStringConvertible, CustomReflectable {
    /// Where the login is; never its secrets.
    public var description: String { "LoopbackLogin(\(login))" }

    /// A mirror without the secrets: `dump` does not print them.
    public var customMirror: Mirror { Mirror(self, children: ["login": login], displayStyle: .class) }
}
