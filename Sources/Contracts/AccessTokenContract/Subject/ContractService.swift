public import AccessTokenAdapters

/// A service under test, as the suite drives it: whatever it really is, reduced to what clauses do with it.
///
/// `refresh` loads a token although a valid one is cached, `invalidate` says that a token was rejected, `signIn` begins
/// a session with a token, `signOut` ends it, and `currentToken` is the cached token if it is valid. Each is needed for
/// the feature of ``ContractFeatures`` that has its name.
///
/// The suite lets go of the service to see what happens then (D6): capture whatever keeps the service alive in these
/// closures and nowhere else.
public struct ContractService: Sendable {
    /// Calls the service with a handler; returns what cancels the call.
    typealias Retrieving = @Sendable (_ handler: @escaping AccessTokenHandler) -> (@Sendable () -> Void)?
    typealias Awaiting = @Sendable () async throws -> AccessToken

    enum Call: Sendable {
        case handler(Retrieving)
        case task(Awaiting)
    }

    let call: Call
    let refresh: Call?
    let invalidate: (@Sendable (AccessToken) async -> Void)?
    let signIn: (@Sendable (AccessToken) async -> Void)?
    let signOut: (@Sendable () async -> Void)?
    let currentToken: (@Sendable () async -> AccessToken?)?

    /// A callback service.
    public static func callback(
        _ provider: any AccessTokenProviding,
        refresh: (@Sendable (_ handler: @escaping AccessTokenHandler) -> Void)? = nil,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        currentToken: (@Sendable () -> AccessToken?)? = nil
    ) -> ContractService {
        ContractService(
            call: .handler { handler in
                let retrieval = provider.retrieveToken(then: handler)
                return { retrieval.cancel() }
            },
            refresh: refresh.map(uncancellable),
            invalidate: { provider.invalidate($0) },
            signIn: signIn,
            signOut: { await AsyncServiceAdapter(of: provider).signOut() },
            currentToken: currentToken
        )
    }

    /// An async service; each caller is a task.
    public static func async(
        _ provider: any AsyncAccessTokenProviding,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        currentToken: (@Sendable () async -> AccessToken?)? = nil
    ) -> ContractService {
        .awaiting(
            { try await provider.token() },
            invalidate: { await provider.invalidate($0) },
            signIn: signIn,
            signOut: { await provider.signOut() },
            currentToken: currentToken
        )
    }

    /// A service of any shape that is called with a handler, as closures; it need only be able to retrieve tokens.
    public static func retrieving(
        _ retrieve: @escaping @Sendable (_ handler: @escaping AccessTokenHandler) -> Void,
        refresh: (@Sendable (_ handler: @escaping AccessTokenHandler) -> Void)? = nil,
        invalidate: (@Sendable (AccessToken) async -> Void)? = nil,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        signOut: (@Sendable () async -> Void)? = nil,
        currentToken: (@Sendable () -> AccessToken?)? = nil
    ) -> ContractService {
        ContractService(
            call: uncancellable(retrieve),
            refresh: refresh.map(uncancellable),
            invalidate: invalidate,
            signIn: signIn,
            signOut: signOut,
            currentToken: currentToken
        )
    }

    /// A service of any shape that is awaited, as closures; each caller is a task, and is cancelled as one.
    public static func awaiting(
        _ token: @escaping @Sendable () async throws -> AccessToken,
        refresh: (@Sendable () async throws -> AccessToken)? = nil,
        invalidate: (@Sendable (AccessToken) async -> Void)? = nil,
        signIn: (@Sendable (AccessToken) async -> Void)? = nil,
        signOut: (@Sendable () async -> Void)? = nil,
        currentToken: (@Sendable () async -> AccessToken?)? = nil
    ) -> ContractService {
        ContractService(
            call: .task(token),
            refresh: refresh.map(Call.task),
            invalidate: invalidate,
            signIn: signIn,
            signOut: signOut,
            currentToken: currentToken
        )
    }

    private static func uncancellable(_ retrieve: @escaping @Sendable (@escaping AccessTokenHandler) -> Void) -> Call {
        .handler { handler in
            retrieve(handler)
            return nil
        }
    }

    /// The labels of what the service was made without, though the subject declares the feature for it.
    func missing(for features: ContractFeatures) -> [String] {
        let parts: [(needed: ContractFeatures, label: String, isThere: Bool)] = [
            (.invalidation, "invalidate:", invalidate != nil),
            (.signIn, "signIn:", signIn != nil),
            (.signOut, "signOut:", signOut != nil),
            (.currentToken, "currentToken:", currentToken != nil),
            (.forcedRefresh, "refresh:", refresh != nil),
        ]
        return parts.filter { features.contains($0.needed) && !$0.isThere }.map(\.label)
    }
}
