/// The loads inside which code runs: its own load, and the loads that wait for that one.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1). A queue and a task each keep
/// their loads in their own way. The core knows neither, so the modules that do add how to read them.
package enum EnclosingLoads {
    package typealias Reader = @Sendable () -> [LoadID]

    private struct Readers: Sendable {
        var ofQueue: Reader?
        var ofTask: Reader?
    }

    private static let readers = Locked(Readers())

    /// The loads that enclose the code that asks, the innermost last.
    package static var current: [LoadID] {
        let readers = readers.withLock { $0 }
        guard let ofTask = readers.ofTask?(), !ofTask.isEmpty else { return readers.ofQueue?() ?? [] }
        guard let ofQueue = readers.ofQueue?(), !ofQueue.isEmpty else { return ofTask }
        return ofTask + ofQueue
    }

    package static func readQueue(by reader: @escaping Reader) {
        readers.withLock { $0.ofQueue = reader }
    }

    package static func readTask(by reader: @escaping Reader) {
        readers.withLock { $0.ofTask = reader }
    }
}
