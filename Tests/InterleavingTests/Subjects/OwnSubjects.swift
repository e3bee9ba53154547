import AccessTokenAdapters

extension Subject {
    /// The services of this package, and each as its adapters present it, as far as control reaches.
    static let own = [
        actor, actorObserved, actorWithCallbackLoader, queue, queueObserved, queueApart, queueOfDispatch, queueAsAsync,
        queueAsAsyncAsCallback, actorAsCallback, actorAsCallbackAsAsync,
    ]

    /// What is not explored, and why.
    static let outOfReach = [
        (
            "the callback view of a service of others",
            "its tasks reach the service later than a call that does not go through the view"
        ),
        (
            "the order in which tasks see their answers",
            "an executor may run resumed tasks in any order; handlers show it"
        ),
    ]

    static let actor = Subject("the actor") { surroundings in
        let service = actorService(surroundings)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// With somebody who is told all events: they are effects of their own, in the order of the decisions.
    ///
    /// The two scenarios have 22,878 and 11,502 schedules.
    static let actorObserved = Subject(
        "the actor, observed",
        reach: .everySchedule(butIn: ["two callers, both cancelled", "a late answer for two"])
    ) { surroundings in
        let service = actorService(surroundings, onEvent: surroundings.observe)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// The two scenarios have more than 40,000 schedules each.
    static let actorWithCallbackLoader = Subject(
        "the actor with a callback loader",
        reach: .everySchedule(butIn: ["a late answer for two", "cancellation, sign-out and deadline"])
    ) { surroundings in
        let loading = surroundings.stage.queue("loading")
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderView(of: surroundings.loader, loading: loading, onEvent: nil),
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// The two scenarios have 27,084 and more than 40,000 schedules.
    static let actorAsCallback = Subject(
        "the actor as callback",
        isByHandlers: true,
        reach: .everySchedule(butIn: ["four callers", "a late answer for two"])
    ) { surroundings in
        let service = actorService(surroundings)
        let delivery = surroundings.stage.queue("delivery")
        return Service(
            provider: .callback(CallbackServiceView(of: service, delivery: delivery)),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// The four scenarios have 27,084, twice more than 40,000, and 31,268 schedules.
    static let actorAsCallbackAsAsync = Subject(
        "the actor as callback as async",
        reach: .everySchedule(butIn: [
            "four callers", "two callers, both cancelled", "a late answer for two",
            "cancellation, sign-out and deadline",
        ])
    ) { surroundings in
        let service = actorService(surroundings)
        let delivery = surroundings.stage.queue("delivery")
        return Service(
            provider: .async(AsyncServiceView(of: CallbackServiceView(of: service, delivery: delivery))),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    private static func actorService(
        _ surroundings: Surroundings,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor,
            onEvent: onEvent
        )
    }
}
