import Dispatch

/// Runs what blocks or computes for long on a thread of its own: no other test waits for a thread of the pool then.
package func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        // A serial queue has a thread of its own; the global ones share theirs with the pool.
        DispatchQueue(label: "test").async { continuation.resume(returning: body()) }
    }
}
