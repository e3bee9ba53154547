import AccessTokenAsync
import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch

/// The cost of a call while a valid token is cached.
enum HitRows {
    private static let calls = 10_000

    static func all(_ isQuick: Bool) -> [Comparison] {
        [fromPool(isQuick ? 31 : 301), fromMainActor(isQuick ? 31 : 101), callbacks(isQuick ? 31 : 101)]
    }

    private static let lockAndClock = LockAndClock(.valid)
    private static let plainActor = PlainActor(.valid, loader: GatedLoader())
    private static let queue = DispatchQueue(label: "benchmarks.handlers")
    private static let queueService: AccessTokenService = {
        let service = AccessTokenService(loader: HeldLoader(), handlerQueue: queue)
        service.signIn(.valid)
        return service
    }()
    private static let service: AsyncAccessTokenService = {
        let service = AsyncAccessTokenService(loader: GatedLoader())
        let isSignedIn = DispatchSemaphore(value: 0)
        Task.detached {
            await service.signIn(.valid)
            isSignedIn.signal()
        }
        isSignedIn.wait()
        return service
    }()

    private static func fromPool(_ rounds: Int) -> Comparison {
        Comparison(
            title: "a hit, from the pool",
            rounds: rounds,
            contenders: [
                Contender("lock and clock") { await onPool { currentTokens { lockAndClock.token } } },
                Contender("token()", limit: 1.5) { try await onPool { try await tokens(of: service) } },
                Contender("currentToken, queue service", limit: 1.5) {
                    await onPool { currentTokens { queueService.currentToken } }
                },
                Contender("plain actor") { try await onPool { try await tokens(of: plainActor, calls) } },
            ]
        )
    }

    private static func fromMainActor(_ rounds: Int) -> Comparison {
        Comparison(
            title: "a hit, from the main actor",
            rounds: rounds,
            contenders: [
                Contender("lock and clock") { await onMainActor { currentTokens { lockAndClock.token } } },
                Contender("token()", limit: 1.5) { try await onMainActor { try await tokens(of: service) } },
                Contender("plain actor") { try await onMainActor { try await tokens(of: plainActor, 200) } },
            ]
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

    // The loops of async calls stand apart, each with its concrete type: a call through a closure or a protocol costs
    // more than the hit.

    private static func tokens(of service: AsyncAccessTokenService) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    private static func tokens(of service: PlainActor, _ calls: Int) async throws -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += use(try await service.token()) }
        return sample(watch, calls, length)
    }

    @inline(__always)
    private static func currentTokens(_ token: () -> AccessToken?) -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += token().map(use) ?? 0 }
        return sample(watch, calls, length)
    }

    private static func sample(_ watch: Stopwatch, _ calls: Int, _ length: Int) -> Sample {
        let sample = watch.sample(per: calls)
        precondition(length == calls * AccessToken.valid.value.utf8.count, "not every call was answered")
        return sample
    }

    private static func callbacks(_ rounds: Int) -> Comparison {
        Comparison(
            title: "a hit, by a callback",
            rounds: rounds,
            contenders: [
                Contender("bare queue.async") {
                    handlers { handler in queue.async { handler(.success(.valid)) } }
                },
                Contender("retrieveToken") { handlers { queueService.retrieveToken(then: $0) } },
            ]
        )
    }

    /// The queue is held while the calls are made: calling and answering must not race for processors.
    private static func handlers(_ retrieve: (@escaping AccessTokenHandler) -> Void) -> Sample {
        let calls = 2_000
        let finished = countdown(calls)
        let watch = Stopwatch()
        queue.suspend()
        for _ in 0..<calls { retrieve { _ in finished.leave() } }
        queue.resume()
        finished.wait()
        return watch.sample(per: calls)
    }
}
