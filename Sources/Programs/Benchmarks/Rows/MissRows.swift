import AccessTokenAsync
import AccessTokenCore
import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch
import Foundation

/// Misses: the time from a miss to the loader, and threads that miss at once.
enum MissRows {
    static func all(_ isQuick: Bool) -> [Comparison] {
        [toTheLoader(isQuick ? 5 : 21), eightThreads(isQuick ? 5 : 21)]
    }

    private static func toTheLoader(_ rounds: Int) -> Comparison {
        Comparison(
            title: "from a miss to the loader's first line",
            rounds: rounds,
            contenders: [
                Contender("plain actor") {
                    await misses { loader in
                        let service = PlainActor(loader: loader)
                        return { _ = try? await service.token() }
                    }
                },
                Contender("AsyncAccessTokenService") {
                    await misses { loader in
                        let service = AsyncAccessTokenService(loader: loader)
                        return { _ = try? await service.token() }
                    }
                },
                Contender("AccessTokenService") {
                    await misses { loader in
                        let service = AccessTokenService(loader: loader)
                        return {
                            await withCheckedContinuation { continuation in
                                service.retrieveToken { _ in continuation.resume() }
                            }
                        }
                    }
                },
            ]
        )
    }

    /// The median of some misses in the pool, each of a new service.
    private static func misses(_ call: @Sendable (ArrivalLoader) -> @Sendable () async -> Void) async -> Sample {
        var times: [Double] = []
        for _ in 0..<21 {
            let loader = ArrivalLoader()
            let call = call(loader)
            let begin = await Task.detached {
                let begin = loader.watch.nanoseconds
                await call()
                return begin
            }
            .value
            times.append(loader.arrival.withLock { $0 } - begin)
        }
        return Sample(nanoseconds: Spread(times).median)
    }

    private static func eightThreads(_ rounds: Int) -> Comparison {
        typealias Row = CallbackWaiterRow
        return Comparison(
            title: "eight threads that miss during one load",
            rounds: rounds,
            contenders: [
                Contender(Row.sundell) { crowd(Row.sundellDesign) },
                Contender(Row.service) { crowd(Row.serviceDesign) },
            ]
        )
    }

    /// The time until all waiters are registered, for each waiter.
    private static func crowd(_ design: CallbackWaiterRow.Design) -> Sample {
        // With fewer calls a thread is done before the next one has begun, and they hardly meet.
        let (threads, calls) = (8, 10_000)
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.crowd")
        let retrieve = design(loader, queue)
        let finished = countdown(threads * calls)
        let registered = countdown(threads)
        retrieve { _ in }
        loader.waitForLoad()
        let watch = Stopwatch()
        for _ in 0..<threads {
            Thread.detachNewThread {
                for _ in 0..<calls { retrieve { _ in finished.leave() } }
                registered.leave()
            }
        }
        registered.wait()
        // Sundell's service registers its waiters on the queue.
        queue.sync {}
        let sample = watch.sample(per: threads * calls)
        loader.finish()
        finished.wait()
        return sample
    }
}

/// A loader of both kinds that reads the time in its first line, and answers at once.
private final class ArrivalLoader: AsyncAccessTokenLoader, AccessTokenLoader {
    let watch = Stopwatch()
    let arrival = Locked(Double.nan)

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        arrive()
        return .valid
    }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        arrive()
        handler(.success(.valid))
    }

    func signOut() async {}
    func signOut(then done: @escaping @Sendable () -> Void) { done() }

    private func arrive() {
        arrival.withLock { $0 = watch.nanoseconds }
    }
}
