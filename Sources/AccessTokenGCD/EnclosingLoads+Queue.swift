package import AccessTokenCore
package import Dispatch

extension EnclosingLoads {
    private static let key = DispatchSpecificKey<[LoadID]>()

    /// Lets ``current`` tell the loads that a queue is calling a loader in; to be asked for before the first of them.
    package static let areReadFromQueue: Void = readQueue { DispatchQueue.getSpecific(key: key) ?? [] }

    /// Runs `body`, which calls a loader inside these loads; to be used on `queue` only.
    package static func with(_ loads: [LoadID], on queue: DispatchQueue, _ body: () -> Void) {
        _ = areReadFromQueue
        queue.setSpecific(key: key, value: loads)
        body()
        queue.setSpecific(key: key, value: nil)
    }
}
