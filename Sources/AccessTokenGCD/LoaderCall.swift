package import Dispatch

/// Says inside which loads the present queue calls a loader at this moment, if it does.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1).
package enum LoaderCall {
    private static let key = DispatchSpecificKey<[LoadID]>()

    package static var loads: [LoadID] {
        DispatchQueue.getSpecific(key: key) ?? []
    }

    /// Runs `body`, which calls a loader inside these loads; to be used on `queue` only.
    package static func inside(_ loads: [LoadID], on queue: DispatchQueue, _ body: () -> Void) {
        queue.setSpecific(key: key, value: loads)
        body()
        queue.setSpecific(key: key, value: nil)
    }
}
