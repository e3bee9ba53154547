import AccessTokenGCD
import AccessTokenSynchronization
import Foundation
package import Testing

/// Something that happens once, and that tests wait for.
package final class Event: Sendable {
    private let queue = TimedWaiters<Bool, Bool>(false)

    package init() {}

    package var hasHappened: Bool { queue.withLock { hasHappened, _ in hasHappened } }

    package func happen() {
        let waiters = queue.withLock { hasHappened, waiters in
            hasHappened = true
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.end(with: true) }
    }

    /// Waits until it happens; an issue of the present test if it has not within a minute.
    package func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
        if await !happens() { Issue.record("did not happen within a minute", sourceLocation: sourceLocation) }
    }

    /// Whether it happens within a minute.
    package func happens() async -> Bool {
        await queue.outcome(atMost: 60, by: PoolClock(), timedOut: false) { $0 ? true : nil }
    }
}

/// Lets other tasks run until `condition` holds, for a state that gives no event.
///
/// An issue of the present test if it does not within a minute.
package func yieldUntil(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) async {
    var waited = Duration.zero
    var looks = 0
    while !condition() {
        guard waited < .seconds(60) else {
            Issue.record("did not hold within a minute", sourceLocation: sourceLocation)
            return
        }
        looks += 1
        let start = ContinuousClock.now
        // What does not happen at once must not keep a processor from what it waits for.
        if looks < 100 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
        // While the pool is busy with other tests, what is waited for gets no further either.
        waited += min(start.duration(to: .now), .milliseconds(100))
    }
}

/// A clock of seconds that the thread pool takes part in: while it is busy with other tests, no time passes.
///
/// What a test waits for runs on the same pool, and gets no further meanwhile either.
private struct PoolClock: AccessTokenClock {
    var now: Date { Date() }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let timer = Task.detached {
            for _ in 0..<Int(delay) { try await Task.sleep(for: .seconds(1)) }
            action()
        }
        return AccessTokenTimer { timer.cancel() }
    }
}

extension Task where Failure == any Error {
    /// The task's value; throws ``NoValue`` if there is none within a minute: a test that must fail has to end.
    package var valueInTime: Success {
        get async throws {
            let hasEnded = Event()
            Task<Void, Never> {
                _ = await result
                hasEnded.happen()
            }
            guard await hasEnded.happens() else { throw NoValue() }
            return try await value
        }
    }
}

/// A task has not ended within a minute.
package struct NoValue: Error {}
