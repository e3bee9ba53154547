import AccessTokenAdapters

/// One of the two services of a trial, on queues and an executor of the stage.
struct TrialSide: Sendable, CustomStringConvertible {
    let description: String
    let make: @Sendable (Subject.Surroundings, any AccessTokenLoader) -> ShadowService.Candidate

    /// The queue service, with all its queues as one.
    static let queue = TrialSide(description: "the queue service") { surroundings, loader in
        let queue = surroundings.stage.queue("queue")
        let service = AccessTokenService(
            loader: loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            engine: queue,
            loading: queue,
            delivery: queue,
            onEvent: nil
        )
        return ShadowService.Candidate(service) { service.signIn($0) }
    }

    /// The actor as a migration has it: callbacks on both of its sides.
    static let actor = TrialSide(description: "the actor") { surroundings, loader in
        let queue = surroundings.stage.queue("views")
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderView(of: loader, loading: queue, onEvent: nil),
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return ShadowService.Candidate(CallbackServiceView(of: service, delivery: queue)) { service.signIn($0) }
    }

    /// A lock and pending handlers, as apps have it; right, or with one bug.
    static func app(_ bug: AppService.Bug? = nil) -> TrialSide {
        TrialSide(description: bug.map { "an app's service (\($0))" } ?? "an app's service") { surroundings, loader in
            let service = AppService(loader: loader, stage: surroundings.stage, bug: bug)
            return ShadowService.Candidate(service) { service.signIn($0) }
        }
    }
}
