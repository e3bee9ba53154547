import AccessTokenCore
import AccessTokenOAuth

/// What a client sees of a server that keeps its own log to itself.
final class ClientLog: Sendable {
    private struct State {
        var loads = 0
        var refusals = 0
        var numbers: [String: Int] = [:]
        var newest: AccessToken?
    }

    private let path: String
    private let recorder: RoundRecorder
    private let state = Locked(State())

    /// - Parameter path: the token endpoint's, for the diagram.
    init(path: String, recorder: RoundRecorder) {
        self.path = path
        self.recorder = recorder
    }

    var loads: Int { state.withLock { $0.loads } }

    /// Loads that were told that the refresh token is no good.
    var refusals: Int { state.withLock { $0.refusals } }

    /// The access token that came last.
    var newest: AccessToken? { state.withLock { $0.newest } }

    /// Numbers stand for values, in the order in which they came.
    func name(of accessToken: String) -> String {
        let number = state.withLock { state in
            let number = state.numbers[accessToken] ?? state.numbers.count + 1
            state.numbers[accessToken] = number
            return number
        }
        return "A\(number)"
    }

    func sends() {
        state.withLock { $0.loads += 1 }
        recorder.record(.request(from: .service, to: .server, "POST \(path)"))
    }

    func receives(_ token: AccessToken, withRotation: Bool) {
        state.withLock { $0.newest = token }
        let rotation = withRotation ? ", rotated" : ""
        recorder.record(.answer(from: .server, to: .service, "200 \(name(of: token.value))\(rotation)"))
    }

    func receives(_ error: any Error) {
        if (error as? OAuthError)?.requiresSignIn == true { state.withLock { $0.refusals += 1 } }
        recorder.record(.answer(from: .server, to: .service, CallEnd.text(of: error)))
    }
}
