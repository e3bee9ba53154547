import AccessTokenGCD
import Dispatch

/// A way for callers with callbacks to wait for one load together.
protocol CallbackDesign: Sendable {
    static var name: String { get }

    init(loader: any AccessTokenLoader, queue: DispatchQueue)
    func retrieve(then handler: @escaping AccessTokenHandler)
}

/// Sundell's queue and array.
struct SundellDesign: CallbackDesign {
    static let name = "Sundell's array"
    private let service: SundellService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = SundellService(loader: loader, queue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}

/// The queue service of this package.
struct QueueServiceDesign: CallbackDesign {
    static let name = "AccessTokenService"
    private let service: AccessTokenService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = AccessTokenService(loader: loader, policy: AccessTokenPolicy(loadDeadline: nil), queue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}
