package import AccessTokenFoundation

/// Mutual exclusion for the tasks of each key, in the order in which they came; a key that nobody uses takes no memory.
package final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let mutex: AsyncMutex
        /// How many hold the mutex or wait for it: while anybody does, newcomers must find the same one.
        var users = 0
    }

    private let entries = Locked<[Key: Entry]>([:])
    private let makeMutex: @Sendable () -> AsyncMutex

    /// The parameters are those of an ``AsyncMutex``.
    package init(
        waitLimit: TimeInterval? = nil,
        clock: any AccessTokenClock = SystemClock(),
        timedOut: any Error = CancellationError()
    ) {
        makeMutex = { AsyncMutex(waitLimit: waitLimit, clock: clock, timedOut: timedOut) }
    }

    /// How many keys are locked.
    package var locked: Int { entries.withLock { $0.count } }

    /// How many tasks wait, for whichever key.
    package var waiting: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.mutex.waiting } } }

    /// Waits until no other task holds the key; see ``AsyncMutex/lock()``.
    @discardableResult
    package func lock(_ key: Key) async throws -> Bool {
        let mutex = entries.withLock { entries in
            var entry = entries[key] ?? Entry(mutex: makeMutex())
            entry.users += 1
            entries[key] = entry
            return entry.mutex
        }
        do {
            return try await mutex.lock()
        } catch {
            leave(key)
            throw error
        }
    }

    /// Hands the key to the task that has waited longest for it.
    package func unlock(_ key: Key) {
        entries.withLock { $0[key] }?.mutex.unlock()
        leave(key)
    }

    /// Unlocks the key, and tells all tasks that wait for it why none of them needs it.
    package func fail(_ key: Key, _ error: any Error) {
        entries.withLock { $0[key] }?.mutex.fail(error)
        leave(key)
    }

    private func leave(_ key: Key) {
        entries.withLock { entries in
            entries[key]?.users -= 1
            if entries[key]?.users == 0 { entries[key] = nil }
        }
    }
}
