import AccessTokenContract

/// The services of this package, and each as its adapters present it.
enum OwnSubjects {
    static let all = [queue, actor, queueAsAsync, actorAsCallback, stacked]

    private static let common: ContractFeatures = [
        .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline, .events,
    ]

    static let queue = ContractSubject(
        "AccessTokenService",
        features: common.union([.deliveryQueue, .callbackLoader])
    ) { fixture in
        let service = queueService(fixture, loader: fixture.loader)
        return .callback(service, signIn: service.signIn, currentToken: { [weak service] in service?.currentToken })
    }

    static let actor = ContractSubject(
        "AsyncAccessTokenService",
        features: common.union([.asyncCallers, .asyncLoader])
    ) { fixture in
        let service = actorService(fixture, loader: fixture.loader)
        return .async(service, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
    }

    static let queueAsAsync = ContractSubject(
        "AccessTokenService as async, with an async loader",
        features: common.union([.asyncCallers, .asyncLoader])
    ) { fixture in
        let service = queueService(fixture, loader: CallbackLoaderView(of: fixture.loader))
        return .async(AsyncServiceView(of: service), signIn: service.signIn, currentToken: { service.currentToken })
    }

    static let actorAsCallback = ContractSubject(
        "AsyncAccessTokenService as callback, with a callback loader",
        features: common.union([.deliveryQueue, .callbackLoader])
    ) { fixture in
        let service = actorService(fixture, loader: AsyncLoaderView(of: fixture.loader, onEvent: fixture.onEvent))
        return .callback(
            CallbackServiceView(of: service, queue: fixture.queue),
            signIn: { await service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// Neither adapter knows here what it adapts, as with services of others.
    static let stacked = ContractSubject(
        "AccessTokenService as async, and that as callback, with both loader adapters",
        features: common.union([.deliveryQueue, .callbackLoader])
    ) { fixture in
        let loader = AsyncLoaderView(of: fixture.loader, onEvent: fixture.onEvent)
        let service = queueService(fixture, loader: CallbackLoaderView(of: loader))
        return .callback(
            CallbackServiceView(of: service, queue: fixture.queue),
            signIn: service.signIn,
            currentToken: { service.currentToken }
        )
    }

    private static func queueService(
        _ fixture: ContractFixture,
        loader: any AccessTokenLoader
    ) -> AccessTokenService {
        AccessTokenService(
            loader: loader,
            policy: fixture.policy,
            clock: fixture.clock,
            queue: fixture.queue,
            onEvent: fixture.onEvent
        )
    }

    private static func actorService(
        _ fixture: ContractFixture,
        loader: any AsyncAccessTokenLoader
    ) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: loader,
            policy: fixture.policy,
            clock: fixture.clock,
            onEvent: fixture.onEvent
        )
    }
}
