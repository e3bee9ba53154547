#if canImport(AuthenticationServices) && !os(tvOS) && !os(watchOS)
public import AuthenticationServices

/// The system's window for a login, on Apple's platforms.
///
/// ```swift
/// let login = try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "com.example.app:/callback")
/// let grant = try await LoginWindow(above: window).grant(for: login)
/// ```
///
/// It is an `ASWebAuthenticationSession`: the app sees neither what the user types nor the cookies of the page.
///
/// **Concurrency** All of it is on the main actor. One window is open at a time: a later login closes the one before,
/// which ends with ``LoginError/windowClosed``.
@MainActor
public final class LoginWindow: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: ASPresentationAnchor
    private let isEphemeral: Bool
    private var session: ASWebAuthenticationSession?
    private var waiting: CheckedContinuation<URL, any Error>?
    /// The number of the window that is shown, or was shown last.
    private var number = 0

    /// Creates a window that will appear above another one.
    ///
    /// - Parameters:
    ///   - anchor: the app's window.
    ///   - isEphemeral: whether the page begins without the browser's cookies, and leaves none: then the user signs in
    ///     anew each time, and another user can.
    public init(above anchor: ASPresentationAnchor, isEphemeral: Bool = false) {
        self.anchor = anchor
        self.isEphemeral = isEphemeral
    }

    /// Shows the login's page, and waits for its redirect.
    ///
    /// **Cancellation** Closes the window, and throws `CancellationError`.
    ///
    /// **Failure** ``LoginError``: ``LoginError/windowClosed`` if the user closes the window; what the server refused.
    /// A redirect URI that is `https` needs iOS 17.4, macOS 14.4 or visionOS 1.1. What else the system says is thrown
    /// unchanged.
    public func grant(for login: AuthorizationCodeLogin) async throws -> TokenGrant {
        try login.grant(from: try await redirect(of: login))
    }

    private func redirect(of login: AuthorizationCodeLogin) async throws -> URL {
        close(number, with: LoginError.windowClosed)
        number += 1
        let window = number
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                do {
                    let session = try session(for: login) { @Sendable url, error in
                        let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                        let failure = isClosed ? LoginError.windowClosed : error ?? LoginError.windowClosed
                        Task { @MainActor in self.end(window, url.map { .success($0) } ?? .failure(failure)) }
                    }
                    session.presentationContextProvider = self
                    session.prefersEphemeralWebBrowserSession = isEphemeral
                    self.session = session
                    guard !session.start() else { return }
                    throw ASWebAuthenticationSessionError(.presentationContextInvalid)
                } catch {
                    end(window, .failure(error))
                }
            }
        } onCancel: {
            Task { @MainActor in self.close(window, with: CancellationError()) }
        }
    }

    private func session(
        for login: AuthorizationCodeLogin,
        then handler: @escaping ASWebAuthenticationSession.CompletionHandler
    ) throws(LoginError) -> ASWebAuthenticationSession {
        let redirect = URLComponents(string: login.redirectURI)
        let scheme = redirect?.scheme?.lowercased()
        guard scheme == "https" || scheme == "http" else {
            return ASWebAuthenticationSession(
                url: login.url,
                callbackURLScheme: redirect?.scheme,
                completionHandler: handler
            )
        }
        guard scheme == "https", let host = redirect?.host else {
            throw .unusable("a window of the system takes redirects to a scheme of the app's own, or to https")
        }
        guard #available(macOS 14.4, iOS 17.4, visionOS 1.1, *) else {
            throw .unusable("on this system, a window takes redirects to a scheme of the app's own only")
        }
        return ASWebAuthenticationSession(
            url: login.url,
            callback: .https(host: host, path: redirect?.path ?? ""),
            completionHandler: handler
        )
    }

    /// Where the system shows the page.
    public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

    private func close(_ number: Int, with error: any Error) {
        guard number == self.number else { return }
        session?.cancel()
        end(number, .failure(error))
    }

    /// The first outcome counts: the system may report one more when the window closes, perhaps during the next one.
    private func end(_ number: Int, _ outcome: Result<URL, any Error>) {
        guard number == self.number else { return }
        waiting?.resume(with: outcome)
        (waiting, session) = (nil, nil)
    }
}

extension LoginWindow: nonisolated CustomReflectable {
    /// A mirror without the page's address: `dump` prints no secret.
    public nonisolated var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}
#endif
