import AccessTokenCore
import AccessTokenGCD

/// A service as an app may have it, with one bug at a time; without one it keeps the contract.
final class AppService: AccessTokenProviding {
    enum Bug: Sendable, CaseIterable {
        /// Each waiter clears the flight when it is answered: also a newer one.
        case everyWaiterClearsTheFlight
        /// The first error is given to all later callers.
        case keepsItsError
        /// The answer of a load counts, whoever has signed out meanwhile.
        case undoesSignOut
        /// A rejection clears the token, whichever was rejected.
        case blindInvalidation
    }

    private struct State {
        var token: AccessToken?
        var error: (any Error)?
        var isSignedOut = false
        var session = 0
        var isLoading = false
        var waiters: [(id: Int, handler: AccessTokenHandler)] = []
        var lastID = 0
    }

    private let loader: any AccessTokenLoader
    private let waiters: any SerialQueue
    private let bug: Bug?
    private let state = Locked(State())

    init(loader: any AccessTokenLoader, stage: any Stage, bug: Bug?) {
        self.loader = loader
        waiters = stage.queue("waiters")
        self.bug = bug
    }

    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let (result, id, session) = state.withLock { state -> (Result<AccessToken, any Error>?, Int, Int?) in
            if state.isSignedOut { return (.failure(AccessTokenError.signedOut), 0, nil) }
            if let token = state.token { return (.success(token), 0, nil) }
            if let error = state.error { return (.failure(error), 0, nil) }
            state.lastID += 1
            state.waiters.append((state.lastID, handler))
            defer { state.isLoading = true }
            return (nil, state.lastID, state.isLoading ? nil : state.session)
        }
        if let result {
            handler(result)
            return .answered
        }
        if let session {
            loader.load(replacing: nil) { [self] in loadFinished($0, of: session) }
        }
        return AccessTokenRetrieval { [self] in
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.handler(.failure(CancellationError()))
        }
    }

    func invalidate(_ rejected: AccessToken) {
        state.withLock { state in
            if state.token == rejected || bug == .blindInvalidation { state.token = nil }
        }
    }

    func signIn(_ token: AccessToken) {
        beginSession(with: token, answering: .success(token))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        beginSession(with: nil, answering: .failure(AccessTokenError.signedOut))
        loader.signOut(then: done)
    }

    private func beginSession(with token: AccessToken?, answering result: Result<AccessToken, any Error>) {
        let waiters = state.withLock { state in
            state.token = token
            state.isSignedOut = token == nil
            state.session += 1
            state.isLoading = false
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.handler(result) }
    }

    private func loadFinished(_ result: Result<AccessToken, any Error>, of session: Int) {
        let waiters = state.withLock { state -> [(id: Int, handler: AccessTokenHandler)] in
            let isLate = session != state.session
            guard !isLate || bug == .undoesSignOut else { return [] }
            if case .success(let token) = result {
                state.token = token
                state.isSignedOut = false
            } else if bug == .keepsItsError, case .failure(let error) = result {
                state.error = error
            }
            guard !isLate else { return [] }
            state.isLoading = false
            return state.waiters.takeAll()
        }
        for waiter in waiters { answer(waiter.handler, result) }
    }

    private func answer(_ handler: @escaping AccessTokenHandler, _ result: Result<AccessToken, any Error>) {
        guard bug == .everyWaiterClearsTheFlight else { return handler(result) }
        waiters.enqueue { [self] in
            state.withLock { $0.isLoading = false }
            handler(result)
        }
    }
}

extension Array {
    fileprivate mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
