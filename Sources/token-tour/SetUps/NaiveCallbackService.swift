import AccessTokenGCD
import Dispatch

/// What many code bases have, and what is wrong with it.
///
/// The queue keeps the memory safe, and that is all it does: the load goes on after the block has ended,
/// and until it is done every other caller finds no valid token either and starts a load of its own.
final class NaiveCallbackService: AccessTokenProviding {
    private let loader: any AccessTokenLoader
    private let queue = DispatchQueue(label: "naive")
    private nonisolated(unsafe) var token: AccessToken?  // Safe: touched on `queue` only.

    init(loader: any AccessTokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        queue.async { [self] in
            if let token = unsafe token {
                return handler(.success(token))
            }
            loader.load(replacing: nil) { [self] result in
                queue.async { [self] in
                    unsafe token = try? result.get()
                    handler(result)
                }
            }
        }
        return .answered
    }

    func invalidate(_ rejected: AccessToken) {
        queue.async { [self] in
            if unsafe token == rejected {
                unsafe token = nil
            }
        }
    }

    func signIn(_ token: AccessToken) {
        queue.async { [self] in unsafe self.token = token }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            unsafe token = nil
            loader.signOut(then: done)
        }
    }
}
