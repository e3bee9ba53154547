import AccessTokenOAuth

/// Answers each load with the next result of a list, and with the last one from then on.
final class ListLoader: AsyncAccessTokenLoader {
    private struct State {
        var loads = 0
        var signOuts = 0
    }

    private let results: [Result<AccessToken, any Error>]
    private let state = Locked(State())

    init(_ results: Result<AccessToken, any Error>...) { self.results = results }

    var loads: Int { state.withLock { $0.loads } }
    var signOuts: Int { state.withLock { $0.signOuts } }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let index = state.withLock { state in
            state.loads += 1
            return min(state.loads, results.count) - 1
        }
        return try results[index].get()
    }

    func signOut() async { state.withLock { $0.signOuts += 1 } }
}
