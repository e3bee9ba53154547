import AccessTokenAsync
import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch
import Foundation

/// Brings a valid token when it is told to.
final class HeldLoader: AccessTokenLoader {
    private let held = Locked<AccessTokenHandler?>(nil)
    private let hasBegun = DispatchSemaphore(value: 0)

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        held.withLock { $0 = handler }
        hasBegun.signal()
    }

    /// Blocks the thread until a load has begun.
    func waitForLoad() {
        hasBegun.wait()
    }

    func finish() {
        held.withLock { $0.take() }?(.success(.valid))
    }
}

/// The same for async code: brings a valid token when it is opened.
struct GatedLoader: AsyncAccessTokenLoader {
    private let gate = AsyncStream.makeStream(of: Never.self)

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        for await _ in gate.stream {}
        return .valid
    }

    func open() {
        gate.continuation.finish()
    }
}

extension AccessToken {
    /// Valid for a whole run.
    ///
    /// Its value is as long as an opaque token, so it is on the heap.
    static let valid = AccessToken(value: String(repeating: "t0ken", count: 8), expiration: Date() + 86_400)
}
