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

    /// Counts logins and ends of sessions: what comes after the next one is no longer about this user.
    private var changes = 0

    /// Runs what needs a token, for a button or at the start of a screen, and shows what it brings.
    func perform<Value: Sendable>(_ work: () async throws -> Value, show: (Value) -> Void) async {
        let before = changes
        do {
            let value = try await work()
            guard before == changes else { return }
            message = nil
            show(value)
        } catch {
            if before == changes { tell(error) }
        }
    }

    private func tell(_ error: any Error) {
        if SessionIsOver.needsSignIn(error) {
            showSignIn()
        } else if !Task.isCancelled {  // A request of URLSession ends with URLError.cancelled then.
            message = (error as? OAuthError)?.isTransient == true ? "Try again in a moment." : "This does not work now."
        }
    }

    /// The last step of the login.
    func showContent() {
        changes += 1
        (screen, message) = (.content, nil)
    }

    /// The first step of the sign-out, too.
    func showSignIn() {
        changes += 1
        (screen, message) = (.signIn, nil)
    }
}
