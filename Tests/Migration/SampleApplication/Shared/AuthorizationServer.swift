import AccessTokenSynchronization
import Dispatch
import Foundation

/// Stands for an authorization server.
package final class AuthorizationServer: Sendable {
    package struct InvalidGrant: Error {}
    package struct Unavailable: Error {}

    private struct State {
        var exchanges = 0
        var credentials = 0
        var isUnavailable = false
        /// Whose refresh token is good, and whose access token it is.
        var users: (refresh: [String: Int], access: [String: Int]) = ([:], [:])
        /// Answers that are held back, in the order of the requests.
        var held: [@Sendable () -> Void]?
        /// Who waits until so many answers are held back.
        var watch: (count: Int, reached: CheckedContinuation<Void, Never>)?

        /// Who watches, if enough answers are held back.
        mutating func takeWatch() -> CheckedContinuation<Void, Never>? {
            guard let watch, let held, held.count >= watch.count else { return nil }
            self.watch = nil
            return watch.reached
        }
    }

    private let state = Locked(State())

    /// Whether a refresh token is good for one exchange only.
    private let rotates: Bool

    package init(rotates: Bool = true) {
        self.rotates = rotates
    }

    // MARK: What the app calls

    /// A user signs in, with a password or otherwise.
    package func signIn(user: Int) -> Credential {
        state.withLock { Self.credential(for: user, in: &$0) }
    }

    @Sendable package func exchange(
        _ refreshToken: String,
        then handler: @escaping @Sendable (Result<Credential, any Error>) -> Void
    ) {
        let result = state.withLock { state in Result { try answer(refreshToken, in: &state) } }
        send { handler(result) }
    }

    /// Sends an answer, or holds it back.
    func send(_ answer: @escaping @Sendable () -> Void) {
        let (isHeld, reached) = state.withLock { state in
            state.held?.append(answer)
            return (state.held != nil, state.takeWatch())
        }
        reached?.resume()
        if !isHeld { DispatchQueue.global().async(execute: answer) }
    }

    private func answer(_ refreshToken: String, in state: inout State) throws -> Credential {
        state.exchanges += 1
        if state.isUnavailable { throw Unavailable() }
        guard let user = state.users.refresh[refreshToken] else { throw InvalidGrant() }
        if rotates { state.users.refresh[refreshToken] = nil }
        return Self.credential(for: user, in: &state)
    }

    @Sendable package func exchange(_ refreshToken: String) async throws -> Credential {
        try await withCheckedThrowingContinuation { continuation in
            exchange(refreshToken) { continuation.resume(with: $0) }
        }
    }

    /// Whose access token it is.
    func user(of accessToken: String) -> Int? {
        state.withLock { $0.users.access[accessToken] }
    }

    // MARK: What a test does

    package var exchanges: Int { state.withLock { $0.exchanges } }

    /// Ends all sessions: no credential is good any more.
    package func endSessions() {
        state.withLock { $0.users = ([:], [:]) }
    }

    /// Whether requests fail, from now on.
    package func setUnavailable(_ isUnavailable: Bool) {
        state.withLock { $0.isUnavailable = isUnavailable }
    }

    /// Holds all answers back, those of the API too, until `release()`.
    package func hold() {
        state.withLock { $0.held = [] }
    }

    /// Returns when so many requests wait for their answers, which are held back.
    package func waitForHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let reached = state.withLock { state in
                state.watch = (count, continuation)
                return state.takeWatch()
            }
            reached?.resume()
        }
    }

    /// Returns when all who were held back have been answered.
    package func release() async {
        let held = state.withLock { $0.held.take() }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for answer in held ?? [] { answer() }
                continuation.resume()
            }
        }
    }

    private static func credential(for user: Int, in state: inout State) -> Credential {
        state.credentials += 1
        let (access, refresh) = ("access \(state.credentials)", "refresh \(state.credentials)")
        state.users.access[access] = user
        state.users.refresh[refresh] = user
        return Credential(accessToken: access, expiresAt: .now + 3600, refreshToken: refresh)
    }
}
