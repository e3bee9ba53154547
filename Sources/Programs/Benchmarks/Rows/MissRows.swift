import AccessTokenAsync
import AccessTokenCore
import AccessTokenGCD
import Dispatch
import Foundation
import Synchronization

/// Misses: eight threads that ask during one load, and the time from a miss to the loader.
enum MissRows {
    static func all(isQuick: Bool) -> [Comparison] {
        [eightThreads(isQuick)]
            + [false, true].flatMap { isOnMainActor in
                [false, true].map { toTheLoader(isQuick, isPoolFull: $0, isOnMainActor: isOnMainActor) }
            }
    }

    // MARK: Eight threads

    private static let threads = 8

    private static func eightThreads(_ isQuick: Bool) -> Comparison {
        Comparison(
            row: "n",
            title: "eight threads that miss during one load",
            rounds: isQuick ? 5 : 21,
            contenders: [
                Contender(SundellDesign.name) { crowd(SundellDesign.self) },
                Contender(HandlerArrayDesign.name) { crowd(HandlerArrayDesign.self) },
                Contender(QueueServiceDesign.name) { crowd(QueueServiceDesign.self) },
            ]
        )
    }

    /// The time from the first call until all waiters are registered, for each waiter.
    private static func crowd<Design: CallbackDesign>(_: Design.Type) -> Sample {
        // Fewer calls end before their thread is preempted, and the threads hardly meet.
        let calls = 10_000
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.crowd")
        let design = Design(loader: loader, queue: queue)
        let finished = Countdown(calls * threads)
        design.retrieve { _ in }
        while !loader.isLoading { Thread.sleep(forTimeInterval: 0.000_01) }
        let time = Threads.run(threads) {
            for _ in 0..<calls {
                design.retrieve { _ in finished.signal() }
            }
        }
        let watch = Stopwatch()
        // Sundell's service registers its waiters on the queue.
        queue.sync {}
        let sample = Sample(nanoseconds: (time.wall + watch.nanoseconds) / Double(calls * threads))
        loader.finish()
        finished.wait()
        queue.sync {}
        return sample
    }

    // MARK: From a miss to the loader

    private static func toTheLoader(_ isQuick: Bool, isPoolFull: Bool, isOnMainActor: Bool) -> Comparison {
        let base = "naive shared Task"
        func contender(_ name: String, _ call: @escaping @Sendable (ArrivalLoader) -> Call) -> Contender {
            Contender(name) { await misses(isPoolFull, isOnMainActor, call) }
        }
        return Comparison(
            row: "o",
            title: "from a miss \(isOnMainActor ? "on the main actor" : "in the pool") to the loader's first line, "
                + (isPoolFull ? "pool full of lower-priority work" : "idle pool"),
            rounds: isQuick ? 5 : 21,
            contenders: [
                contender(base) { loader in
                    let service = SharedTask(loader: loader)
                    return { _ = try? await service.token() }
                },
                contender("the same with a deadline") { loader in
                    let service = SharedTask(loader: loader, deadline: .seconds(60))
                    return { _ = try? await service.token() }
                },
                contender("AsyncAccessTokenService") { loader in
                    let service = AsyncAccessTokenService(loader: loader)
                    return { _ = try? await service.token() }
                },
                contender("AccessTokenService") { loader in
                    let service = AccessTokenService(loader: loader)
                    return {
                        await withCheckedContinuation { continuation in
                            service.retrieveToken { _ in continuation.resume() }
                        }
                    }
                },
            ]
        )
    }

    private typealias Call = @Sendable () async -> Void

    /// The median of some misses, each of a new service, by a caller of high priority.
    private static func misses(
        _ isPoolFull: Bool,
        _ isOnMainActor: Bool,
        _ call: @escaping @Sendable (ArrivalLoader) -> Call
    ) async -> Sample {
        let work = isPoolFull ? await LowPriorityWork.fillingPool() : nil
        var times: [Double] = []
        for _ in 0..<21 {
            let loader = ArrivalLoader()
            let call = call(loader)
            if isOnMainActor {
                await Task(priority: .high) { @MainActor in
                    loader.isAwaitedFromNow()
                    await call()
                }
                .value
            } else {
                await Task(priority: .high) {
                    loader.isAwaitedFromNow()
                    await call()
                }
                .value
            }
            times += loader.nanoseconds.map { [$0] } ?? []
        }
        work?.stop()
        return Sample(nanoseconds: Distribution(times)?.median ?? .infinity)
    }
}

/// One task for all callers, which inherits the first caller's priority and runs in the pool.
///
/// If the caller is in the pool, the caller's thread goes on with this task, and no other thread has to wake up.
private actor SharedTask {
    private let loader: any AsyncAccessTokenLoader
    private let deadline: Duration?
    private var load: Task<AccessToken, any Error>?

    init(loader: any AsyncAccessTokenLoader, deadline: Duration? = nil) {
        self.loader = loader
        self.deadline = deadline
    }

    func token() async throws -> AccessToken {
        let load = load ?? Task { [loader] in try await loader.load(replacing: nil) }
        self.load = load
        let timer = deadline.map { deadline in
            Task { if (try? await Task.sleep(for: deadline)) != nil { load.cancel() } }
        }
        defer { timer?.cancel() }
        return try await load.value
    }
}

/// A loader of both kinds that reads the time in its first line, and answers at once.
private final class ArrivalLoader: AsyncAccessTokenLoader, AccessTokenLoader {
    private let call = Locked<(watch: Stopwatch, nanoseconds: Double?)?>(nil)

    /// From the call to the loader's first line.
    var nanoseconds: Double? { call.withLock { $0?.nanoseconds } }

    func isAwaitedFromNow() {
        call.withLock { $0 = (Stopwatch(), nil) }
    }

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
        call.withLock { call in
            let nanoseconds = call?.watch.nanoseconds
            call?.nanoseconds = nanoseconds
        }
    }
}

/// More busy tasks of medium priority than the pool has threads.
private final class LowPriorityWork: Sendable {
    private let isStopped = Atomic(false)

    static func fillingPool() async -> LowPriorityWork {
        let work = LowPriorityWork()
        let count = 32 * ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<count {
            Task.detached(priority: .medium) {
                while !work.isStopped.load(ordering: .relaxed) {
                    let watch = Stopwatch()
                    while watch.nanoseconds < 200_000 {}
                    await Task.yield()
                }
            }
        }
        // This task runs after all of them have begun.
        await Task.detached(priority: .medium) {}.value
        return work
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }
}
