import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenGCD
import Dispatch

/// The cost of a call while a valid token is cached.
enum HitRows {
    static let base = "Mutex and a clock reading"
    static let calls = 10_000

    static func all(isQuick: Bool) -> [Comparison] {
        let rounds = isQuick ? 31 : 301
        return [
            fromPool(rounds), fromMainActor(rounds), currentToken(rounds), callbacks(rounds / 3), asyncAdapter(rounds),
            twoThreads(rounds / 3),
        ]
    }

    private static let snapshot = MutexSnapshot(.valid)

    private static let actor = AsyncAccessTokenService.signedIn()

    private static let queueService: AccessTokenService = {
        let service = AccessTokenService(loader: HeldLoader())
        service.signIn(.valid)
        return service
    }()

    private static let existential: any AsyncAccessTokenProviding = actor
    private static let awaitedSnapshot: any AwaitedSnapshot = snapshot
    private static let plainActor = PlainActor(.valid, loader: GatedLoader(gate: Gate()))

    // MARK: async

    private static func fromPool(_ rounds: Int) -> Comparison {
        Comparison(
            row: "a",
            title: "token() from the pool",
            rounds: rounds,
            contenders: [
                Contender(base) { await onPool { snapshotCalls() } },
                Contender("token()") { try await onPool { try await actorCalls(actor) } },
                Contender("token() of any AsyncAccessTokenProviding") {
                    try await onPool { try await existentialCalls(existential) }
                },
                Contender("base of any protocol, awaited") {
                    try await onPool { try await awaitedSnapshotCalls(awaitedSnapshot) }
                },
                Contender("plain actor") { try await onPool { try await plainActorCalls(plainActor, calls) } },
            ],
            goals: [
                .time(of: "token()", to: base, atMost: 1.5)
            ]
        )
    }

    private static func fromMainActor(_ rounds: Int) -> Comparison {
        Comparison(
            row: "a",
            title: "token() from the main actor",
            rounds: rounds / 3,
            contenders: [
                Contender(base) { await onMainActor { snapshotCalls() } },
                Contender("token()") { try await onMainActor { try await actorCalls(actor) } },
                Contender("token() of any AsyncAccessTokenProviding") {
                    try await onMainActor { try await existentialCalls(existential) }
                },
                Contender("base of any protocol, awaited") {
                    try await onMainActor { try await awaitedSnapshotCalls(awaitedSnapshot) }
                },
                Contender("plain actor") { try await onMainActor { try await plainActorCalls(plainActor, 200) } },
            ],
            goals: [
                .time(of: "token()", to: base, atMost: 1.5),
                .speed(of: "token()", over: "plain actor", atLeast: 100),
            ]
        )
    }

    private static func asyncAdapter(_ rounds: Int) -> Comparison {
        Comparison(
            row: "e",
            title: "async adapter of the queue service",
            rounds: rounds,
            contenders: [
                Contender("token() of the actor") { try await onPool { try await actorCalls(actor) } },
                Contender("token() of the queue service") { try await onPool { try await adapterCalls(queueService) } },
            ],
            goals: [.time(of: "token() of the queue service", to: "token() of the actor", atMost: 1.3)]
        )
    }

    @concurrent
    private static func onPool(_ body: @Sendable () async throws -> Sample) async rethrows -> Sample {
        try await body()
    }

    @MainActor
    private static func onMainActor(_ body: @MainActor () async throws -> Sample) async rethrows -> Sample {
        try await body()
    }

    private static func snapshotCalls(_ calls: Int = calls) -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += snapshot.token().map(use) ?? 0 }
        return sample(watch, calls, length)
    }

    private static func actorCalls(
        _ service: AsyncAccessTokenService,
        _ calls: Int = calls
    ) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    private static func adapterCalls(_ service: AccessTokenService) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    private static func existentialCalls(
        _ service: any AsyncAccessTokenProviding,
        _ calls: Int = calls
    ) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    private static func awaitedSnapshotCalls(
        _ snapshot: any AwaitedSnapshot,
        _ calls: Int = calls
    ) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await snapshot.awaitedToken()) }
        return sample(watch, calls, length)
    }

    private static func plainActorCalls(_ service: PlainActor, _ calls: Int) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    private static func sample(_ watch: Stopwatch, _ calls: Int, _ length: Int) -> Sample {
        let sample = watch.sample(per: calls)
        precondition(length == calls * AccessToken.valid.value.utf8.count, "not every call was answered")
        return sample
    }

    // MARK: without await

    private static func currentToken(_ rounds: Int) -> Comparison {
        Comparison(
            row: "c",
            title: "currentToken",
            rounds: rounds,
            contenders: [
                Contender(base) { snapshotCalls() },
                Contender("of the actor") { currentTokenCalls(actor) },
                Contender("of the queue service") { currentTokenCalls(queueService) },
            ],
            goals: [
                .time(of: "of the actor", to: base, atMost: 1.5),
                .time(of: "of the queue service", to: base, atMost: 1.5),
            ]
        )
    }

    private static func currentTokenCalls(_ service: AsyncAccessTokenService, _ calls: Int = calls) -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += service.currentToken.map(use) ?? 0 }
        return sample(watch, calls, length)
    }

    private static func currentTokenCalls(_ service: AccessTokenService, _ calls: Int = calls) -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += service.currentToken.map(use) ?? 0 }
        return sample(watch, calls, length)
    }

    // MARK: Counting instructions

    static func repeatSnapshot(_ calls: Int) {
        _ = snapshotCalls(calls)
    }

    static func repeatToken(_ calls: Int) async throws {
        _ = try await actorCalls(actor, calls)
    }

    static func repeatExistential(_ calls: Int) async throws {
        _ = try await existentialCalls(existential, calls)
    }

    static func repeatAwaitedSnapshot(_ calls: Int) async throws {
        _ = try await awaitedSnapshotCalls(awaitedSnapshot, calls)
    }

    static func repeatCurrentToken(_ calls: Int) {
        _ = currentTokenCalls(actor, calls)
    }

    static func repeatQueueToken(_ calls: Int) {
        _ = currentTokenCalls(queueService, calls)
    }

    // MARK: callbacks

    private static func callbacks(_ rounds: Int) -> Comparison {
        let queue = DispatchQueue(label: "benchmarks.handlers")
        let service = AccessTokenService(loader: HeldLoader(), handlerQueue: queue)
        service.signIn(.valid)
        let adapter = CallbackServiceAdapter(of: actor, handlerQueue: queue)
        let sundell = SundellService(loader: HeldLoader(), token: .valid, queue: queue)
        return Comparison(
            row: "d, f",
            title: "retrieveToken",
            rounds: rounds,
            contenders: [
                Contender("bare queue.async") {
                    handlerCalls(on: queue) { handler in
                        let token = AccessToken.valid
                        queue.async { handler(.success(token)) }
                    }
                },
                Contender("retrieveToken") { handlerCalls(on: queue) { service.retrieveToken(then: $0) } },
                Contender("callback adapter of the actor") {
                    handlerCalls(on: queue) { adapter.retrieveToken(then: $0) }
                },
                Contender("Sundell's queue") { handlerCalls(on: queue) { sundell.retrieveToken(then: $0) } },
            ],
            goals: [
                .time(of: "retrieveToken", to: "bare queue.async", atMost: 1.1),
                .time(of: "callback adapter of the actor", to: "retrieveToken", atMost: 1.2),
            ]
        )
    }

    /// The queue is held while the calls are made, so that calling and answering do not race for processors.
    private static func handlerCalls(
        on queue: DispatchQueue,
        _ retrieve: (@escaping AccessTokenHandler) -> Void
    ) -> Sample {
        let calls = 2_000
        let finished = Countdown(calls)
        let watch = Stopwatch()
        queue.suspend()
        for _ in 0..<calls {
            retrieve { _ in finished.signal() }
        }
        queue.resume()
        finished.wait()
        return watch.sample(per: calls)
    }

    // MARK: two threads

    private static func twoThreads(_ rounds: Int) -> Comparison {
        Comparison(
            row: "m",
            title: "token() from two threads at once",
            rounds: rounds,
            contenders: [
                Contender(base) {
                    Threads.pair(calls: calls) { calls in
                        var length = 0
                        for _ in 0..<calls { length += snapshot.token().map(use) ?? 0 }
                        precondition(length > 0)
                    }
                },
                Contender("token()") {
                    let service = actor
                    return Threads.pair(calls: calls) { calls in
                        let loop = LoopExecutor()
                        Task(executorPreference: loop) {
                            var length = 0
                            for _ in 0..<calls { length += use(try await service.token()) }
                            precondition(length > 0)
                        }
                        loop.drain()
                    }
                },
            ],
            goals: [.time(of: "token()", to: base, atMost: 1)]
        )
    }
}

extension AsyncAccessTokenService {
    /// A service with a valid token, for code that cannot await one.
    static func signedIn() -> AsyncAccessTokenService {
        let service = AsyncAccessTokenService(loader: GatedLoader(gate: Gate()))
        let isSignedIn = DispatchSemaphore(value: 0)
        Task.detached {
            await service.signIn(.valid)
            isSignedIn.signal()
        }
        isSignedIn.wait()
        return service
    }
}
