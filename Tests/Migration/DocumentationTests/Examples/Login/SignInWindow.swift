#if canImport(AuthenticationServices)
import AccessTokenOAuth
import AuthenticationServices

/// A window of the system for the sign-in page, on Apple's platforms.
@MainActor
final class SignInWindow: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: ASPresentationAnchor
    private var session: ASWebAuthenticationSession?
    private var waiting: CheckedContinuation<URL, any Error>?
    /// The number of the window that is shown, or was shown last.
    private var number = 0

    init(above anchor: ASPresentationAnchor) { self.anchor = anchor }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

    /// The URL that the window was sent to at the end; closes the window of an earlier call that still waits.
    func show(_ url: URL, scheme: String = "com.example.app") async throws -> URL {
        close(number, with: LoginError.windowClosed)
        number += 1
        let window = number
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                let session = ASWebAuthenticationSession(url: url, callbackURLScheme: scheme) { @Sendable url, error in
                    let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                    let failure = isClosed ? LoginError.windowClosed : error ?? LoginError.windowClosed
                    Task { @MainActor in self.end(window, url.map { .success($0) } ?? .failure(failure)) }
                }
                session.presentationContextProvider = self
                self.session = session
                guard !session.start() else { return }
                end(window, .failure(ASWebAuthenticationSessionError(.presentationContextInvalid)))
            }
        } onCancel: {
            Task { @MainActor in close(window, with: CancellationError()) }
        }
    }

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
#endif
