import AccessTokenAsync
import AccessTokenGCD
import Dispatch

/// The cost of a call while many threads call at once.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum ThreadRows {
    static func all(_ isQuick: Bool) -> [Comparison] {
        threadCounts.map { hits(threads: $0, rounds: isQuick ? 5 : 21) }
            + threadCounts.map { waiters(threads: $0, rounds: isQuick ? 5 : 21) }
    }

    private static let queueService = AccessTokenService(token: .valid, loader: HeldLoader())
    private static let service = AsyncAccessTokenService(token: .valid, loader: GatedLoader())
    private static let shared = LockAndClock(.valid)

    private static let hits = 50_000

    /// The base is what the threads would take if they shared nothing.
    private static func hits(threads: Int, rounds: Int) -> Comparison {
        let oneForAll = Contender("lock and clock, one for all") {
            onThreads(threads, calls: hits) { count { shared.token } }
        }
        return Comparison(
            title: "a hit, from \(threads) threads at once",
            rounds: rounds,
            contenders: [
                Contender("lock and clock of each thread's own") {
                    onThreads(threads, calls: hits) {
                        let value = String(decoding: AccessToken.valid.value.utf8, as: UTF8.self)
                        let own = LockAndClock(AccessToken(value: value, expiration: AccessToken.valid.expiration))
                        count { own.token }
                    }
                },
                Contender("token()", limit: 1.5) {
                    onThreads(threads, calls: hits) {
                        let loop = LoopExecutor()
                        Task(executorPreference: loop) { await countTokens() }
                        // A hit does not suspend: the task runs to its end on the thread itself.
                        loop.drain()
                    }
                },
                Contender("currentToken, queue service", limit: 1.5) {
                    onThreads(threads, calls: hits) { count { queueService.currentToken } }
                },
                // From sixteen threads it takes minutes.
            ] + (threads <= 8 ? [oneForAll] : [])
        )
    }

    @inline(__always)
    private static func count(_ token: () -> AccessToken?) {
        var length = 0
        for _ in 0..<hits { length += token().map(use) ?? 0 }
        precondition(length == hits * AccessToken.valid.value.utf8.count, "not every call was answered")
    }

    private static func countTokens() async {
        var length = 0
        for _ in 0..<hits { length += (try? await service.token()).map(use) ?? 0 }
        precondition(length == hits * AccessToken.valid.value.utf8.count, "not every call was answered")
    }

    /// The threads make waiters of one load that is running; what answers them does not count.
    private static func waiters(threads: Int, rounds: Int) -> Comparison {
        Comparison(
            title: "a handler that waits, from \(threads) threads at once",
            rounds: rounds,
            contenders: [
                Contender(CallbackWaiterRow.sundell) { waiters(threads, CallbackWaiterRow.sundellDesign) },
                Contender(CallbackWaiterRow.service, limit: 2) { waiters(threads, CallbackWaiterRow.serviceDesign) },
            ]
        )
    }

    private static func waiters(_ threads: Int, _ design: CallbackWaiterRow.Design) -> Sample {
        // With fewer, a thread would be done before the next one has begun.
        let calls = 5_000
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.threads")
        let retrieve = design(loader, queue)
        let finished = countdown(calls * threads)
        retrieve { _ in }
        loader.waitForLoad()
        let sample = onThreads(threads, calls: calls) {
            for _ in 0..<calls { retrieve { _ in finished.leave() } }
        }
        queue.sync {}
        loader.finish()
        finished.wait()
        queue.sync {}
        return sample
    }
}
