import AccessTokenContract
import TestSupport

/// The services of this package, and each as its adapters present it.
///
/// Each is there twice: with an event handler, and without, when valid tokens are handed out by a shorter way.
enum OwnSubjects {
    static let all = observed + unobserved
    /// Both services; of `swift test` the second, since the first is verified from XCTest.
    static let services = Effort.isThorough ? Array(observed.prefix(2)) : [observed[1]]
    /// What `swift test` verifies: both services, the longest way through the adapters, and one through a service of
    /// others.
    static let some = Array(observed.prefix(2)) + unobserved.prefix(2) + observed[5...6]
    static let observed = subjects(observed: true)
    static let unobserved = subjects(observed: false)

    private static func subjects(observed: Bool) -> [ContractSubject] {
        let common: ContractFeatures = [
            .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline,
            .currentToken, .loaderRecognition, .initialToken,
        ]
        let features = observed ? common.union(.events) : common
        let callback = features.union([.deliveryQueue, .callbackLoader])
        let async = features.union(.asyncCallers)
        // Calls reach a service of others in tasks, which come to it in any order.
        let behindOthers = features.union(.deliveryQueue).subtracting(.loaderRecognition)
        let loose = ServiceContract.conventions.subtracting(["D2"])
        func subject(
            _ name: String,
            features: ContractFeatures,
            promises: Set<ClauseID> = ServiceContract.conventions,
            make: @escaping @Sendable (ContractFixture) -> ContractService
        ) -> ContractSubject {
            ContractSubject(
                observed ? name : "\(name), unobserved",
                features: features,
                promises: promises,
                make: make
            )
        }

        @Sendable func queueService(_ fixture: ContractFixture, _ loader: any AccessTokenLoader) -> AccessTokenService {
            AccessTokenService(
                token: fixture.initialToken,
                loader: loader,
                policy: fixture.policy,
                clock: fixture.clock,
                handlerQueue: fixture.handlerQueue,
                onEvent: observed ? fixture.onEvent : nil
            )
        }

        @Sendable func actorService(_ fixture: ContractFixture, _ loader: any AsyncAccessTokenLoader)
            -> AsyncAccessTokenService
        {
            AsyncAccessTokenService(
                token: fixture.initialToken,
                loader: loader,
                policy: fixture.policy,
                clock: fixture.clock,
                onEvent: observed ? fixture.onEvent : nil
            )
        }

        return [
            subject("the queue service", features: callback) { fixture in
                let service = queueService(fixture, fixture.loader)
                return .callback(service, signIn: { service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the actor", features: async) { fixture in
                let service = actorService(fixture, fixture.loader)
                return .async(service, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the queue service as async, with an async loader", features: async) { fixture in
                let service = queueService(fixture, CallbackLoaderAdapter(of: fixture.loader))
                return .async(service, signIn: { service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the actor as callback, with a callback loader", features: callback) { fixture in
                let service = actorService(fixture, AsyncLoaderAdapter(of: fixture.loader, onEvent: fixture.onEvent))
                let view = CallbackServiceAdapter(of: service, handlerQueue: fixture.handlerQueue)
                return .callback(view, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the queue service as async as callback, with both loader adapters", features: callback) {
                fixture in
                let loader = CallbackLoaderAdapter(of: AsyncLoaderAdapter(of: fixture.loader, onEvent: fixture.onEvent))
                let service = queueService(fixture, loader)
                let view = CallbackServiceAdapter(of: service, handlerQueue: fixture.handlerQueue)
                return .callback(view, signIn: { service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the actor as callback as async, with both loader adapters", features: async) { fixture in
                let loader = AsyncLoaderAdapter(of: CallbackLoaderAdapter(of: fixture.loader))
                let service = actorService(fixture, loader)
                let view = AsyncServiceAdapter(
                    of: CallbackServiceAdapter(of: service, handlerQueue: fixture.handlerQueue)
                )
                return .async(view, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the queue service behind a service of others", features: behindOthers, promises: loose) {
                fixture in
                let service = queueService(fixture, fixture.loader)
                let others = AsyncServiceOfOthers(base: AsyncServiceAdapter(of: service))
                let view = CallbackServiceAdapter(of: others, handlerQueue: fixture.handlerQueue)
                return .callback(view, signIn: { service.signIn($0) }, currentToken: { service.currentToken })
            },
            subject("the actor behind a service of others", features: behindOthers, promises: loose) { fixture in
                let service = actorService(fixture, fixture.loader)
                let view = CallbackServiceAdapter(
                    of: AsyncServiceOfOthers(base: service),
                    handlerQueue: fixture.handlerQueue
                )
                return .callback(view, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
            },
        ]
    }
}

/// Hides its base from the adapters.
private struct AsyncServiceOfOthers: AsyncAccessTokenProviding {
    let base: any AsyncAccessTokenProviding

    func token() async throws -> AccessToken { try await base.token() }
    func invalidate(_ rejected: AccessToken) async { await base.invalidate(rejected) }
    func signOut() async { await base.signOut() }
}
