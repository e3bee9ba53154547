#if canImport(AuthenticationServices)
import AccessTokenOAuth
import AuthenticationServices

/// A window of the system for the sign-in page, on Apple's platforms.
@MainActor
final class SignInWindow: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: ASPresentationAnchor
    private var session: ASWebAuthenticationSession?
    private var waiting: CheckedContinuation<URL, any Error>?

    init(above anchor: ASPresentationAnchor) { self.anchor = anchor }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

    /// The URL that the window was sent to at the end.
    func show(_ url: URL, scheme: String = "com.example.app") async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                let session = ASWebAuthenticationSession(url: url, callbackURLScheme: scheme) { @Sendable url, error in
                    let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                    let failure = isClosed ? LoginError.windowClosed : error ?? LoginError.windowClosed
                    Task { @MainActor in self.end(url.map { .success($0) } ?? .failure(failure)) }
                }
                session.presentationContextProvider = self
                self.session = session
                if !session.start() { end(.failure(ASWebAuthenticationSessionError(.presentationContextInvalid))) }
            }
        } onCancel: {
            Task { @MainActor in
                session?.cancel()
                end(.failure(CancellationError()))
            }
        }
    }

    /// The first outcome counts: the system may report one more when the window closes.
    private func end(_ outcome: Result<URL, any Error>) {
        waiting?.resume(with: outcome)
        (waiting, session) = (nil, nil)
    }
}
#endif
