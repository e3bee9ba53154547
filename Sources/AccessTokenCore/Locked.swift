#if THREAD_SANITIZER
import Foundation
#else
public import Synchronization
#endif

/// A value behind a lock: how the services guard their state.
///
/// It is a `Mutex`. The thread sanitizer does not see through `Mutex` on Linux and reports races that are none,
/// so its build defines `THREAD_SANITIZER` and gets the same thing on an `NSLock`.
@frozen @usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    #if THREAD_SANITIZER
    // Safe: `value` is only touched between `lock` and `unlock`.
    @usableFromInline
    final class Box: @unchecked Sendable {
        let lock = NSLock()
        var value: Value
        init(_ value: consuming sending Value) { self.value = value }
    }

    private let box: Box

    package init(_ value: consuming sending Value) {
        box = Box(value)
    }

    @usableFromInline
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        box.lock.lock()
        defer { box.lock.unlock() }
        return try body(&box.value)
    }
    #else
    @usableFromInline
    package let mutex: Mutex<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
    #endif
}
