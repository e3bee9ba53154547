public import AccessTokenSynchronization
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
    /// The authorization request, for the user's browser; show it as well as open it.
    public var url: URL { login.url }

    private let login: AuthorizationCodeLogin
    private let listeners: LoopbackListeners
    private let clock: any AccessTokenClock
    private let answer: LoopbackAnswer

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
    ///   - proofKeys: those of the token endpoint, for a server that binds tokens to a key (DPoP, RFC 9449).
    /// - Throws: ``LoginError``, also if the port is taken.
    public convenience init(
        at server: AuthorizationServer,
        clientID: String,
        redirectURI: String = "http://127.0.0.1/callback",
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:],
        clock: any AccessTokenClock = SystemClock(),
        proofKeys: ProofKeys? = nil
    ) throws(LoginError) {
        let (answer, listeners) = try Self.listen(at: redirectURI)
        do throws(LoginError) {
            let login = try AuthorizationCodeLogin(
                at: server,
                clientID: clientID,
                redirectURI: listeners.redirectURI,
                scope: scope,
                parameters: parameters,
                proofKeys: proofKeys
            )
            self.init(login, answer, listeners, clock)
        } catch {
            listeners.close()
            throw error
        }
    }

    /// Listens at once, and sends the request to the server first, where the server takes that (RFC 9126).
    ///
    /// It is ``AuthorizationCodeLogin/init(at:with:redirectURI:scope:parameters:)`` for a program that listens. Use it
    /// if the server has a ``AuthorizationServer/pushedAuthorizationURL``. The endpoint's clock counts the time limit.
    ///
    /// **Failure** ``LoginError``, also if the port is taken; an error of the app's own client assertion, unchanged.
    public convenience init(
        at server: AuthorizationServer,
        with endpoint: TokenEndpoint,
        redirectURI: String = "http://127.0.0.1/callback",
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:]
    ) async throws {
        let (answer, listeners) = try Self.listen(at: redirectURI)
        do {
            let login = try await AuthorizationCodeLogin(
                at: server,
                with: endpoint,
                redirectURI: listeners.redirectURI,
                scope: scope,
                parameters: parameters
            )
            self.init(login, answer, listeners, endpoint.clock)
        } catch {
            listeners.close()
            throw error
        }
    }

    private init(
        _ login: AuthorizationCodeLogin,
        _ answer: LoopbackAnswer,
        _ listeners: LoopbackListeners,
        _ clock: any AccessTokenClock
    ) {
        answer.expect(login)
        self.login = login
        self.answer = answer
        self.listeners = listeners
        self.clock = clock
    }

    private static func listen(
        at redirectURI: String
    ) throws(LoginError) -> (answer: LoopbackAnswer, listeners: LoopbackListeners) {
        let answer = LoopbackAnswer()
        let listeners = try LoopbackListeners(at: redirectURI) { address, port throws(SocketFailure) in
            try LoopbackHTTPServer(on: address, port: port) { request, _ in answer.respond(to: request) }
        }
        return (answer, listeners)
    }

    deinit { listeners.close() }

    /// Opens the browser, and waits for the redirect; the port is closed when this returns.
    ///
    /// **Cancellation** Ends the wait at once with `CancellationError`.
    ///
    /// **Failure** ``LoginError``: ``LoginError/nobodyCameBack`` if nobody came back, which is also how a closed window
    /// ends; what the server refused; ``LoginError/alreadyAnswered`` for a second call.
    ///
    /// - Parameters:
    ///   - limit: seconds that the user has; 300 for what makes no sense.
    ///   - open: opens the URL; the system's browser if nothing else is said. A program that cannot open any still
    ///     waits: the user may have the URL from the screen.
    public func grant(
        within limit: TimeInterval = 300,
        open: @Sendable (URL) -> Void = LoopbackLogin.openBrowser
    ) async throws -> TokenGrant {
        guard answer.ask() else { throw LoginError.alreadyAnswered }
        // A user who opened the URL by hand was faster, and nobody waits for the page of a cancelled login.
        if !answer.isThere, !Task.isCancelled { open(url) }
        let outcome = await answer.outcome(within: limit > 0 ? limit : 300, by: clock)
        await withCheckedContinuation { continuation in
            listeners.close { continuation.resume() }
        }
        return try outcome.get()
    }

    // Sendable in words: a caller in Swift 5 mode gets a warning otherwise.
    /// Opens a URL in the user's browser, by `open` or `xdg-open`, and does nothing where there is none.
    @Sendable public static func openBrowser(at url: URL) { SystemBrowser.open(url) }
}

extension LoopbackLogin: CustomStringConvertible, CustomReflectable {
    /// Where the login is; never its secrets.
    public var description: String { "LoopbackLogin(\(login))" }

    /// A mirror without the secrets: `dump` does not print them.
    public var customMirror: Mirror { Mirror(self, children: ["login": login], displayStyle: .class) }
}
