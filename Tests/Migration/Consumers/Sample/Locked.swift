import Synchronization

/// Stands for the package's own lock, which the sample application uses and a consumer does not see.
nonisolated struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>

    init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    // Inlined into an async function, a `Mutex` on Linux may take the thread after an `await` for the one before it.
    @inline(never)
    borrowing func withLock<Result>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result {
        try mutex.withLock(body)
    }
}
