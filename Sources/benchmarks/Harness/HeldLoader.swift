import AccessTokenGCD
import Synchronization

/// Brings a valid token when it is told to.
final class HeldLoader: AccessTokenLoader {
    private let held = Mutex<AccessTokenHandler?>(nil)

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        held.withLock { $0 = handler }
    }

    /// Whether a load has begun.
    var isLoading: Bool { held.withLock { $0 != nil } }

    func finish() {
        held.withLock { $0.take() }?(.success(.valid))
    }
}
