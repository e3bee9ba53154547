import AccessTokenOAuth
import AccessTokenSynchronization

/// Answers each load with the next result of a list, and with the last one from then on.
final class ListLoader: AsyncAccessTokenLoader {
    private struct State {
        var loads = 0
        var signOuts = 0
    }

    private let results: [Result<AccessToken, any Error>]
    private let onLoad: @Sendable (Int) async -> Void
    private let onSignOut: @Sendable () async -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - onLoad: is waited for in each load, and told its number.
    ///   - onSignOut: is waited for in each sign-out.
    init(
        _ results: Result<AccessToken, any Error>...,
        onLoad: @escaping @Sendable (Int) async -> Void = { _ in },
        onSignOut: @escaping @Sendable () async -> Void = {}
    ) {
        self.results = results
        self.onLoad = onLoad
        self.onSignOut = onSignOut
    }

    /// A service whose loads bring `A1`, and `A2` from then on, each valid until it is rejected.
    static func service(
        onLoad: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> (AsyncAccessTokenService, ListLoader) {
        let tokens = ["A1", "A2"].map { AccessToken(value: $0) }
        let loader = ListLoader(.success(tokens[0]), .success(tokens[1]), onLoad: onLoad)
        return (AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline), loader)
    }

    var loads: Int { state.withLock { $0.loads } }
    var signOuts: Int { state.withLock { $0.signOuts } }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let number = state.withLock { state in
            state.loads += 1
            return state.loads
        }
        await onLoad(number)
        return try results[min(number, results.count) - 1].get()
    }

    func signOut() async {
        state.withLock { $0.signOuts += 1 }
        await onSignOut()
    }
}

/// Keeps the failures that no caller hears of.
final class UnheardErrors: Sendable {
    private let errors = Locked<[any Error]>([])

    var all: [any Error] { errors.withLock { $0 } }

    func hear(_ error: any Error) { errors.withLock { $0.append(error) } }
}
