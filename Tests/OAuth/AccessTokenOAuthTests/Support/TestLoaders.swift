import AccessTokenOAuth

/// Answers each load with the next result of a list, and with the last one from then on.
final class ListLoader: AsyncAccessTokenLoader {
    private struct State {
        var loads = 0
        var signOuts = 0
    }

    private let results: [Result<AccessToken, any Error>]
    private let onSignOut: @Sendable () async -> Void
    private let state = Locked(State())

    init(_ results: Result<AccessToken, any Error>..., onSignOut: @escaping @Sendable () async -> Void = {}) {
        self.results = results
        self.onSignOut = onSignOut
    }

    var loads: Int { state.withLock { $0.loads } }
    var signOuts: Int { state.withLock { $0.signOuts } }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let index = state.withLock { state in
            state.loads += 1
            return min(state.loads, results.count) - 1
        }
        return try results[index].get()
    }

    func signOut() async {
        state.withLock { $0.signOuts += 1 }
        await onSignOut()
    }
}

/// A service whose loads bring `A1`, `A2` and so on, each valid until it is rejected.
final class SampleTokens: AsyncAccessTokenLoader {
    private let count = Locked(0)
    private let onLoad: @Sendable (Int) async -> Void

    private init(_ onLoad: @escaping @Sendable (Int) async -> Void) { self.onLoad = onLoad }

    /// - Parameter onLoad: is waited for in each load, and told its number.
    static func service(
        onLoad: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> (AsyncAccessTokenService, SampleTokens) {
        let loader = SampleTokens(onLoad)
        return (AsyncAccessTokenService(loader: loader), loader)
    }

    var loads: Int { count.withLock { $0 } }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let number = count.withLock { count in
            count += 1
            return count
        }
        await onLoad(number)
        return AccessToken(value: "A\(number)")
    }
}

/// Keeps the failures that no caller hears of.
final class UnheardErrors: Sendable {
    private let errors = Locked<[any Error]>([])

    var all: [any Error] { errors.withLock { $0 } }

    func hear(_ error: any Error) { errors.withLock { $0.append(error) } }
}
