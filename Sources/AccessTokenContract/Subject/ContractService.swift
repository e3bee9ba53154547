public import AccessTokenAdapters

/// A service under test, as the suite drives it: whatever it really is, reduced to what clauses do with it.
public struct ContractService: Sendable {
    /// Starts a caller on its way to `handler`; returns what cancels it.
    typealias Retrieve =
        @Sendable (_ start: CallerStart, _ handler: @escaping AccessTokenHandler) -> @Sendable () -> Void

    let retrieve: Retrieve
    let invalidate: (@Sendable (AccessToken) async -> Void)?
    let signOut: (@Sendable () async -> Void)?
    let signIn: (@Sendable (AccessToken) async -> Void)?
    let currentToken: (@Sendable () -> AccessToken?)?

    /// A callback service.
    ///
    /// - Parameters:
    ///   - provider: the service.
    ///   - signIn: begins a session; needed for the feature `signIn`.
    ///   - currentToken: the cached token if it is valid; needed for the feature `currentToken`.
    public static func callback(
        _ provider: any AccessTokenProviding,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        currentToken: (@Sendable () -> AccessToken?)? = nil
    ) -> ContractService {
        ContractService(
            retrieve: { _, handler in
                let retrieval = provider.retrieveToken(then: handler)
                return { retrieval.cancel() }
            },
            invalidate: { provider.invalidate($0) },
            signOut: { await AsyncServiceView(of: provider).signOut() },
            signIn: signIn,
            currentToken: currentToken
        )
    }

    /// An async service; each caller is a task.
    ///
    /// - Parameters:
    ///   - provider: the service.
    ///   - signIn: begins a session; needed for the feature `signIn`.
    ///   - currentToken: the cached token if it is valid; needed for the feature `currentToken`.
    public static func async(
        _ provider: any AsyncAccessTokenProviding,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        currentToken: (@Sendable () -> AccessToken?)? = nil
    ) -> ContractService {
        ContractService(
            retrieve: { start, handler in
                start.asTask { handler(await Result { () async throws in try await provider.token() }) }
            },
            invalidate: { await provider.invalidate($0) },
            signOut: { await provider.signOut() },
            signIn: signIn,
            currentToken: currentToken
        )
    }

    /// A service of any shape, as closures; it need not be able to do more than to retrieve tokens.
    ///
    /// - Parameters:
    ///   - retrieve: calls the service with a completion handler.
    ///   - invalidate: says that a token was rejected; needed for the feature `invalidation`.
    ///   - signIn: begins a session; needed for the feature `signIn`.
    ///   - signOut: ends the session; needed for the feature `signOut`.
    public static func retrieving(
        _ retrieve: @escaping @Sendable (_ handler: @escaping AccessTokenHandler) -> Void,
        invalidate: (@Sendable (AccessToken) async -> Void)? = nil,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        signOut: (@Sendable () async -> Void)? = nil
    ) -> ContractService {
        ContractService(
            retrieve: { _, handler in
                retrieve(handler)
                return {}
            },
            invalidate: invalidate,
            signOut: signOut,
            signIn: signIn,
            currentToken: nil
        )
    }

    /// The labels of what the service was made without, though the subject declares the feature for it.
    func missing(for features: ContractFeatures) -> [String] {
        let parts: [(needed: ContractFeatures, label: String, isThere: Bool)] = [
            (.invalidation, "invalidate:", invalidate != nil),
            (.signIn, "signIn:", signIn != nil),
            (.signOut, "signOut:", signOut != nil),
            (.currentToken, "currentToken:", currentToken != nil),
        ]
        return parts.filter { features.contains($0.needed) && !$0.isThere }.map(\.label)
    }
}

extension Result where Failure == any Error, Success: Sendable {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
