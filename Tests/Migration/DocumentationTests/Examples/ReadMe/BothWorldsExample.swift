import AccessTokenAdapters
import Dispatch

nonisolated struct Tokens: Sendable {
    let service: AsyncAccessTokenService  // for async code; owns the cache
    let legacyService: CallbackServiceAdapter  // for callback code

    init(loader: any AccessTokenLoader) {
        service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader))
        legacyService = CallbackServiceAdapter(of: service, handlerQueue: .main)
    }
}
