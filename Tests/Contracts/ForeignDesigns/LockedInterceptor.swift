import AccessTokenContract
import Dispatch
import Foundation

/// A lock around the state of a refresh, which is held while the request is started, or while errors are told.
///
/// Its refreshes have no numbers: a second answer to one of them reaches those who wait for the next (D7).
final class LockedInterceptor: Sendable {
    enum Bug {
        case locksAroundTheRequest
        case locksAroundErrors
        case forgetsItself
    }

    private struct State {
        var token: ForeignToken?
        var isRefreshing = false
        var waiting: [@Sendable (Result<ForeignToken, any Error>) -> Void] = []
    }

    private let request: @Sendable (@escaping @Sendable (Result<ForeignToken, any Error>) -> Void) -> Void
    private let bug: Bug?
    private let lock = NSLock()
    private let state = Locked(State())

    init(
        bug: Bug?,
        request: @escaping @Sendable (@escaping @Sendable (Result<ForeignToken, any Error>) -> Void) -> Void
    ) {
        self.bug = bug
        self.request = request
    }

    func adapt(_ completion: @escaping @Sendable (Result<ForeignToken, any Error>) -> Void) {
        lock.lock()
        if let token = state.withLock({ $0.token }) {
            lock.unlock()
            return DispatchQueue.global().async { completion(.success(token)) }
        }
        let mustRefresh = state.withLock { state in
            state.waiting.append(completion)
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        if mustRefresh, bug == .locksAroundTheRequest { refresh() }
        lock.unlock()
        if mustRefresh, bug != .locksAroundTheRequest { refresh() }
    }

    func reject(_ token: ForeignToken) {
        lock.withLock {
            state.withLock { if $0.token == token { $0.token = nil } }
        }
    }

    private func refresh() {
        if bug == .forgetsItself {
            request { [weak self] in self?.finish($0) }
        } else {
            request { self.finish($0) }
        }
    }

    private func finish(_ result: Result<ForeignToken, any Error>) {
        lock.lock()
        let waiting = state.withLock { state in
            defer {
                state.waiting = []
                state.isRefreshing = false
                state.token = try? result.get()
            }
            return state.waiting
        }
        if case .failure = result, bug == .locksAroundErrors {
            for completion in waiting { completion(result) }
            lock.unlock()
        } else {
            lock.unlock()
            for completion in waiting { completion(result) }
        }
    }
}

extension ForeignDesign {
    static let lockedRequest = interceptor(
        "a lock around the request",
        .locksAroundTheRequest,
        breaks: ["D7", "D8"],
        repairs: "D8"
    )
    static let lockedErrors = interceptor(
        "a lock around the errors",
        .locksAroundErrors,
        breaks: ["D7", "D10"],
        repairs: "D10"
    )
    static let weakInterceptor = interceptor(
        "a weak self in the completion",
        .forgetsItself,
        breaks: ["D6", "D7"],
        repairs: "D6"
    )

    private static func interceptor(
        _ name: String,
        _ bug: LockedInterceptor.Bug,
        breaks broken: [String],
        repairs clause: String
    ) -> ForeignDesign {
        ForeignDesign(name, broken: broken, repairs: clause) { isRepaired in
            ContractSubject(name, features: [.callbackLoader, .invalidation]) { fixture in
                let interceptor = LockedInterceptor(bug: isRepaired ? nil : bug) { completion in
                    fixture.loader.load(replacing: nil) { completion($0.map(ForeignToken.init)) }
                }
                return .retrieving { handler in
                    interceptor.adapt { handler($0.map(\.token)) }
                } invalidate: {
                    interceptor.reject(ForeignToken($0))
                }
            }
        }
    }
}
