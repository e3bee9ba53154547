import AccessTokenContract
import AccessTokenSynchronization
import TestSupport
import Testing

/// Collects what handlers are told, and lets a test wait until so many were.
final class Answers: Sendable {
    private struct State {
        var results: [Result<AccessToken, any Error>] = []
        /// What waits for so many results.
        var waits: [Int: Event] = [:]
    }

    private let state = Locked(State())

    var results: [Result<AccessToken, any Error>] { state.withLock { $0.results } }
    var tokens: [AccessToken] { results.compactMap(\.token) }

    func take(_ result: Result<AccessToken, any Error>) {
        let isThere = state.withLock { state in
            state.results.append(result)
            return state.waits.removeValue(forKey: state.results.count)
        }
        isThere?.happen()
    }

    /// Waits until so many answers have come.
    func count(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        let isThere = Event()
        state.withLock { state in
            if state.results.count < count { state.waits[count] = isThere } else { isThere.happen() }
        }
        await isThere.wait(sourceLocation: sourceLocation)
    }

    /// The first answer.
    func first() async -> Result<AccessToken, any Error> {
        await count(1)
        return results.first ?? .failure(Violation("no answer"))
    }
}

extension Result<AccessToken, any Error> {
    var token: AccessToken? { try? get() }
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

let validToken = AccessToken(value: "valid")

func hasFailed(_ result: Result<AccessToken, any Error>, with error: AccessTokenError) -> Bool {
    result.error as? AccessTokenError == error
}

extension AsyncAccessTokenProviding {
    /// The token or why there is none, as a handler is told it.
    nonisolated(nonsending) func answer() async -> Result<AccessToken, any Error> {
        do { return .success(try await token()) } catch { return .failure(error) }
    }
}

extension AccessTokenProviding {
    /// A call as legacy code makes it; in an async function the compiler would suggest `token()` instead.
    @discardableResult
    func callFromLegacyCode(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        retrieveToken(then: handler)
    }

    /// A sign-out as legacy code makes it.
    func signOutFromLegacyCode(then done: @escaping @Sendable () -> Void) {
        signOut(then: done)
    }
}
