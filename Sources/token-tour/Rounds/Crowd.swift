import AccessTokenGCD
import Dispatch

/// All callers of a set-up, who call at the same moment.
struct Crowd: Sendable {
    let callbackCallers: [CallbackCaller]
    let asyncCallers: [AsyncCaller]

    /// Lets all of them call, and waits for all; the answer is how many were served.
    func call() async -> Int {
        async let served = callFromQueue()
        return await callFromTasks() + served
    }

    private func callFromTasks() async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for caller in asyncCallers {
                group.addTask { await caller.call() }
            }
            return await group.reduce(0) { count, isServed in count + (isServed ? 1 : 0) }
        }
    }

    private func callFromQueue() async -> Int {
        await withCheckedContinuation { continuation in
            callFromQueue { continuation.resume(returning: $0) }
        }
    }

    private func callFromQueue(then handler: @escaping @Sendable (Int) -> Void) {
        let served = Served()
        let group = DispatchGroup()
        // Held back until all of them stand in line.
        let queue = DispatchQueue(label: "token-tour.callers", attributes: [.concurrent, .initiallyInactive])
        for caller in callbackCallers {
            group.enter()
            queue.async {
                caller.call { isServed in
                    served.add(isServed)
                    group.leave()
                }
            }
        }
        queue.activate()
        group.notify(queue: queue) { handler(served.count) }
    }
}

private final class Served: Sendable {
    private let state = Locked(0)

    var count: Int { state.withLock { $0 } }

    func add(_ isServed: Bool) {
        state.withLock { $0 += isServed ? 1 : 0 }
    }
}
