import AccessTokenAsync
import AccessTokenCore
import AccessTokenGCD
import Foundation

/// Brings a valid token when it is told to.
final class HeldLoader: AccessTokenLoader {
    private let held = Locked<AccessTokenHandler?>(nil)

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        held.withLock { $0 = handler }
    }

    /// Whether a load has begun.
    var isLoading: Bool { held.withLock { $0 != nil } }

    func finish() {
        held.withLock { $0.take() }?(.success(.valid))
    }
}

/// Brings a valid token when its gate is opened.
struct GatedLoader: AsyncAccessTokenLoader {
    let gate: Gate

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        await gate.pass()
        return .valid
    }
}

/// Holds one load up until it is opened.
final class Gate: Sendable {
    private enum State {
        case closed
        case waiting(CheckedContinuation<Void, Never>)
        case open
    }

    private let state = Locked(State.closed)

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if case .open = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let former = state.withLock { state in
            defer { state = .open }
            return state
        }
        if case .waiting(let continuation) = former { continuation.resume() }
    }
}

extension AccessToken {
    /// Valid for a whole run.
    ///
    /// Its value is as long as an opaque token, so it is on the heap.
    static let valid = AccessToken(value: String(repeating: "t0ken", count: 8), expiration: Date() + 86_400)
}
