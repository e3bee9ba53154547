#if !canImport(Darwin) && !THREAD_SANITIZER
public import Synchronization
#endif

/// A value that can be copied into memory of its own.
@usableFromInline
package protocol Separable: Sendable {
    /// Equal to this one, and shares no reference count with it.
    var separated: Self { get }
}

/// A value behind a lock, read on many threads at once.
///
/// It begins with one lock. Where readers meet there again and again, each processor gets a lock and a copy of the
/// value: from then on a reader takes any of the locks, and a change takes all of them. So a change is one step for
/// every reader, as with one lock, and readers share no memory that any of them writes, a string's reference count
/// among it. One lock costs a reader 50 ns alone, and 3 µs where eight threads read.
///
/// On Apple's platforms it stays with one lock: atomics come with iOS 18.
// Safe: nobody else has the pointer, and what it points to is made for many threads.
@frozen @usableFromInline @safe
package struct ReadByMany<Value: Separable>: ~Copyable, @unchecked Sendable {
    #if canImport(Darwin) || THREAD_SANITIZER
    private let value: Locked<Value>

    package init(_ value: Value) { self.value = Locked(value) }

    @usableFromInline
    package borrowing func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        value.withLock { body($0) }
    }

    /// Changes the value, and calls `body` before anybody can read the new one.
    package borrowing func change(to new: Value, _ body: () -> Void) {
        value.withLock { value in
            value = new
            body()
        }
    }
    #else
    @frozen @usableFromInline
    struct Copy: Sendable {
        @usableFromInline var value: Value
        /// How often a reader had to wait for the original since the last change.
        ///
        /// A service that is seldom in demand keeps one lock.
        var meetings: UInt8 = 0

        init(_ value: Value) { self.value = value }
    }

    @frozen @usableFromInline
    struct Stripe: ~Copyable, Sendable {
        @usableFromInline let copy: Locked<Copy>
        /// Keeps the next stripe off this one's cache lines.
        private let distance: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0, 0, 0, 0)

        init(_ value: Value) { copy = Locked(Copy(value.separated)) }
    }

    /// After so many meetings each processor gets a stripe.
    private static var mostMeetings: UInt8 { 100 }

    @usableFromInline let original: Locked<Copy>
    /// One for each processor, once there are any: added under the lock of the original, and never removed.
    @usableFromInline let stripes = unsafe Atomic<UnsafeMutablePointer<Stripe>?>(nil)

    package init(_ value: Value) { original = Locked(Copy(value)) }

    deinit {
        guard let stripes = unsafe stripes.load(ordering: .acquiring) else { return }
        unsafe stripes.deinitialize(count: processorCount)
        unsafe stripes.deallocate()
    }

    @inlinable
    package borrowing func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        while true {
            if let stripes = unsafe stripes.load(ordering: .acquiring) { return unsafe read(stripes, body) }
            if let result = Self.read(original, body) { return result }
            waitForOthers()
        }
    }

    /// Changes the value, and calls `body` before anybody can read the new one.
    package borrowing func change(to new: Value, _ body: () -> Void) {
        original.withLock { original in
            original = Copy(new)
            changeStripe(0, to: new, body)
        }
    }

    /// Takes the locks of this stripe and of those after it, and calls `body` when all of them are taken.
    private borrowing func changeStripe(_ index: Int, to new: Value, _ body: () -> Void) {
        guard let stripes = unsafe stripes.load(ordering: .relaxed), index < processorCount else { return body() }
        unsafe stripes[index].copy.withLock { copy in
            copy.value = new.separated
            changeStripe(index + 1, to: new, body)
        }
    }

    /// Does not wait for the lock: `nil` if somebody else has it.
    ///
    /// Not inlined: see ``Locked/withLock(_:)``. One function for all locks: `body` has no other place to be inlined.
    @inlinable @inline(never)
    static func read<Result: Sendable>(_ lock: borrowing Locked<Copy>, _ body: (Value) -> Result) -> Result? {
        lock.mutex.withLockIfAvailable { body($0.value) }
    }

    /// Takes the lock of this processor, or the next one that is free.
    ///
    /// At first nobody sleeps here: the kernel hands a lock on to a thread that sleeps, on Linux, and from then on each
    /// read costs two changes of threads. Whoever has a lock may not be running, and a change has all of them. A thread
    /// of a real-time priority could keep that change from its processor for ever: so it sleeps after so many tries, by
    /// which the change inherits its priority.
    @inlinable @inline(never)
    borrowing func read<Result: Sendable>(
        _ stripes: UnsafeMutablePointer<Stripe>,
        _ body: (Value) -> Result
    ) -> Result {
        var index = currentProcessor()
        for _ in 0..<100 {
            for _ in 0..<processorCount {
                if let result = unsafe Self.read(stripes[index].copy, body) { return result }
                index = (index + 1) % processorCount
            }
            yieldToOthers()
        }
        return unsafe stripes[index].copy.withLock { body($0.value) }
    }

    /// Waits for the lock of the original; adds the stripes if that happens often.
    @usableFromInline
    borrowing func waitForOthers() {
        original.withLock { original in
            guard original.meetings < Self.mostMeetings else { return }
            original.meetings += 1
            guard original.meetings == Self.mostMeetings, unsafe stripes.load(ordering: .relaxed) == nil else { return }
            let new = UnsafeMutablePointer<Stripe>.allocate(capacity: processorCount)
            for index in 0..<processorCount { unsafe (new + index).initialize(to: Stripe(original.value)) }
            unsafe stripes.store(new, ordering: .releasing)
        }
    }
    #endif
}
