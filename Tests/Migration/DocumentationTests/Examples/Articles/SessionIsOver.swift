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

    /// Runs what needs a token, for a button or at the start of a screen.
    func perform(_ work: () async throws -> Void) async {
        do {
            try await work()
            message = nil
        } catch let error where SessionIsOver.needsSignIn(error) {
            screen = .signIn
        } catch is CancellationError {
        } catch {
            message = (error as? OAuthError)?.isTransient == true ? "Try again in a moment." : "This does not work now."
        }
    }
}
