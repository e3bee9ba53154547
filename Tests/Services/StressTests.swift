import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

/// Everything at once from many threads: what the thread sanitizer is to look at, and a count of what must add up.
///
/// The rules are about sums only: which caller meets which load is left to chance here.
@Suite("Everything at once", .takesTurns, .serialized)
struct StressTests {
    static let rounds = 200

    @Test(arguments: Engine.allCases)
    func `from threads and tasks`(_ engine: Engine) async {
        let counts = Locked((loads: 0, failures: 0))
        let loader = Loader {
            await Task.yield()
            return try counts.withLock { counts in
                counts.loads += 1
                guard counts.loads.isMultiple(of: 5) else { return AccessToken(value: "\(counts.loads)") }
                counts.failures += 1
                throw ContractLoadError(number: counts.loads)
            }
        }
        let queue = AccessTokenService(loader: loader, onEvent: { _ in })
        let actor = AsyncAccessTokenService(loader: loader, onEvent: { _ in })
        let (callback, async): (any AccessTokenProviding, any AsyncAccessTokenProviding) =
            engine == .queue ? (queue, queue) : (CallbackServiceAdapter(of: actor), actor)
        let answers = Answers()
        let invalidations = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for round in 0..<Self.rounds {
                for caller in 0..<4 {
                    DispatchQueue.global().async {
                        let retrieval = callback.retrieveToken { result in
                            answers.take(result)
                            guard caller == 0, case .success(let token) = result else { return }
                            invalidations.withLock { $0 += 1 }
                            callback.invalidate(token)
                        }
                        if caller == 1 { retrieval.cancel() }
                    }
                    group.addTask {
                        let task = Task { answers.take(await async.answer()) }
                        if caller == 2 { task.cancel() }
                        await task.value
                    }
                }
                if round.isMultiple(of: 20) {
                    group.addTask {
                        await async.signOut()
                        let token = AccessToken(value: "session \(round)")
                        if engine == .queue { queue.signIn(token) } else { await actor.signIn(token) }
                    }
                }
            }
        }
        await answers.count(Self.rounds * 8)
        #expect(answers.results.count == Self.rounds * 8)
        let (loads, failures) = counts.withLock { $0 }
        #expect(loads <= 1 + failures + invalidations.withLock { $0 } + Self.rounds / 20)
    }
}
