import AccessTokenOAuth

nonisolated enum SessionIsOver {
    /// Whether nothing but a login helps.
    static func needsSignIn(_ error: any Error) -> Bool {
        (error as? any LoginNeedingError)?.needsLogin == true
    }
}

@MainActor
final class Screens {
    enum Screen { case content, signIn }

    private(set) var screen = Screen.content
    /// What the user is told beside the content, until the next success.
    private(set) var message: String?

    /// Counts the logins: an error that comes after the next one is no longer about this user.
    private var logins = 0

    /// Runs what needs a token, for a button or at the start of a screen.
    func perform(_ work: () async throws -> Void) async {
        let login = logins
        do {
            try await work()
            if login == logins { message = nil }
        } catch {
            if login == logins { show(error) }
        }
    }

    private func show(_ error: any Error) {
        if SessionIsOver.needsSignIn(error) {
            screen = .signIn
        } else if !Task.isCancelled {  // A request of URLSession ends with URLError.cancelled then.
            message = (error as? OAuthError)?.isTransient == true ? "Try again in a moment." : "This does not work now."
        }
    }

    /// The last step of the login.
    func showContent() {
        logins += 1
        (screen, message) = (.content, nil)
    }
}
