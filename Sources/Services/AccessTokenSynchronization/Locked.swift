#if canImport(Darwin)
import Darwin
#elseif THREAD_SANITIZER
public import Foundation
#else
public import Synchronization
#endif

/// A value behind a lock.
///
/// On Linux it is a `Mutex`, which Apple's platforms have from iOS 18 on. The thread sanitizer does not see through
/// that `Mutex` and reports races that are none, so its build defines `THREAD_SANITIZER` and gets an `NSLock`.
@frozen @usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    #if canImport(Darwin) || THREAD_SANITIZER
    // Safe: `value` is only touched between `lock` and `unlock`.
    @usableFromInline
    final class Box: @unchecked Sendable {
        var value: Value
        init(_ value: consuming sending Value) { self.value = value }
    }

    private let lock = PlainLock()
    private let box: Box

    package init(_ value: consuming sending Value) {
        box = Box(value)
    }

    @usableFromInline
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&box.value)
    }
    #else
    @usableFromInline package let mutex: Mutex<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Compiled for each of its uses, and inlined into none of them.
    ///
    /// On Linux a `Mutex` knows the thread that holds it by a thread-local variable. If the call is inlined into an
    /// async function, the optimizer computes the address of that variable once and keeps it across an `await`. Behind
    /// the `await` the task may be on another thread: it would lock, or unlock, in the name of the former one, and that
    /// ends the process.
    @inlinable @inline(never)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
    #endif

    /// ``withLock(_:)``, for what many threads do at once and is done in a moment.
    ///
    /// On Linux a thread that waits for a `Mutex` sleeps, and the kernel hands the lock on to it: from then on each
    /// call costs two changes of threads. Here a thread lets others run, and tries again. It sleeps after so many
    /// tries: then the holder of the lock inherits the priority of the thread, and the thread cannot starve it.
    @inlinable @inline(never)
    package borrowing func withLockInACrowd<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        #if canImport(Darwin) || THREAD_SANITIZER
        return withLock(body)
        #else
        for _ in 0..<1_000 {
            if let result = mutex.withLockIfAvailable(body) { return result }
            yieldToOthers()
        }
        return withLock(body)
        #endif
    }
}

// The lock is apart from the value: the thread sanitizer takes a change of the value for one of the whole object.
#if canImport(Darwin)
// Safe: what it holds is made for many threads, and nobody else has the pointer.
@safe @usableFromInline
final class PlainLock: @unchecked Sendable {
    // Allocated, since the lock must not move.
    private let unfairLock: os_unfair_lock_t = {
        let lock = os_unfair_lock_t.allocate(capacity: 1)
        unsafe lock.initialize(to: os_unfair_lock())
        return unsafe lock
    }()

    @usableFromInline
    init() {}

    func lock() { unsafe os_unfair_lock_lock(unfairLock) }
    func unlock() { unsafe os_unfair_lock_unlock(unfairLock) }
    deinit { unsafe unfairLock.deallocate() }
}
#elseif THREAD_SANITIZER
@usableFromInline
typealias PlainLock = NSLock
#endif
