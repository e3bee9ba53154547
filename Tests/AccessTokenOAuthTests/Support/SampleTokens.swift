import AccessTokenOAuth

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
