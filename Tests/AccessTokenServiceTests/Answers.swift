import AccessTokenContract

/// Collects what handlers are told, and lets a test wait until so many were.
final class Answers: Sendable {
    private struct State {
        var results: [Result<AccessToken, any Error>] = []
        var waits: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var results: [Result<AccessToken, any Error>] { state.withLock { $0.results } }
    var tokens: [AccessToken] { results.compactMap { try? $0.get() } }

    func take(_ result: Result<AccessToken, any Error>) {
        let ready = state.withLock { state in
            state.results.append(result)
            let count = state.results.count
            defer { state.waits.removeAll { $0.count <= count } }
            return state.waits.filter { $0.count <= count }
        }
        for wait in ready { wait.continuation.resume() }
    }

    /// Waits until so many answers have come.
    func count(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.results.count < count { state.waits.append((count, continuation)) }
                return state.results.count >= count
            }
            if isThere { continuation.resume() }
        }
    }
}

/// A one-time event that a test waits for.
final class Event: Sendable {
    private let answers = Answers()

    func happen() { answers.take(.failure(CancellationError())) }
    func wait() async { await answers.count(1) }
    var hasHappened: Bool { !answers.results.isEmpty }
}

let validToken = AccessToken(value: "valid")

func hasFailed(_ result: Result<AccessToken, any Error>, with error: AccessTokenError) -> Bool {
    guard case .failure(let given) = result else { return false }
    return given as? AccessTokenError == error
}

extension AccessTokenProviding {
    /// A call as legacy code makes it; in an async function the compiler would suggest `token()` instead.
    @discardableResult
    func callFromLegacyCode(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        retrieveToken(then: handler)
    }
}
