import AccessTokenCore
import Foundation
import Synchronization

#if canImport(os)
import os
#elseif canImport(Glibc)
import Glibc
#endif

/// The lock of both services next to the platform's other locks.
enum LockRows {
    static func all(isQuick: Bool) -> [Comparison] {
        [1, 2, 8].map { comparison(threads: $0, rounds: isQuick ? 5 : 21) }
    }

    private static func comparison(threads: Int, rounds: Int) -> Comparison {
        var contenders = [
            contender("Locked", LockedList.self, threads),
            contender("Mutex", MutexList.self, threads),
            contender("NSLock", NSLockList.self, threads),
        ]
        #if canImport(os)
        contenders.append(contender("os_unfair_lock", UnfairList.self, threads))
        #elseif canImport(Glibc)
        contenders.append(contender("pthread_mutex_t, adaptive", AdaptiveList.self, threads))
        #endif
        return Comparison(
            row: "p",
            title: threads == 1 ? "the lock, one thread" : "the lock, \(threads) threads at once",
            rounds: rounds,
            contenders: contenders
        )
    }

    private static func contender<List: LockedAppending>(_ name: String, _: List.Type, _ threads: Int) -> Contender {
        Contender(name) {
            let calls = 25_000
            let list = List()
            let time = Threads.run(threads) {
                for number in 0..<calls { list.append(number) }
            }
            return Sample(nanoseconds: time.wall / Double(calls * threads))
        }
    }
}

/// A list behind a lock.
///
/// The critical section is as short as that of a waiter.
private protocol LockedAppending: Sendable {
    init()
    func append(_ number: Int)
}

extension [Int] {
    /// Appends to a list that never grows beyond some elements.
    @inline(__always)
    fileprivate mutating func appendBounded(_ number: Int) {
        if count == 64 { removeAll(keepingCapacity: true) }
        append(number)
    }
}

private final class LockedList: LockedAppending {
    private let list = Locked([Int]())

    func append(_ number: Int) {
        list.withLock { $0.appendBounded(number) }
    }
}

private final class MutexList: LockedAppending {
    private let list = Mutex([Int]())

    func append(_ number: Int) {
        list.withLock { $0.appendBounded(number) }
    }
}

// Safe: `list` is only touched between `lock` and `unlock`.
private final class NSLockList: LockedAppending, @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Int] = []

    func append(_ number: Int) {
        lock.lock()
        list.appendBounded(number)
        lock.unlock()
    }
}

#if canImport(os)
private final class UnfairList: LockedAppending {
    private let list = OSAllocatedUnfairLock(initialState: [Int]())

    func append(_ number: Int) {
        list.withLock { $0.appendBounded(number) }
    }
}
#elseif canImport(Glibc)
// Safe: `list` is only touched between `lock` and `unlock`, and the mutex never moves.
/// The C library's lock in the variant that spins for a moment before it sleeps.
@safe
private final class AdaptiveList: LockedAppending, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var list: [Int] = []

    init() {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(mutex, &attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func append(_ number: Int) {
        unsafe pthread_mutex_lock(mutex)
        list.appendBounded(number)
        unsafe pthread_mutex_unlock(mutex)
    }
}
#endif
