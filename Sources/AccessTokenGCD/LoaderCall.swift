import Dispatch

/// Says which service, if any, is calling its loader on the present queue at this moment.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1).
package enum LoaderCall {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    package static var service: ObjectIdentifier? {
        DispatchQueue.getSpecific(key: key)
    }

    /// Runs `body`, which calls the loader of `service`; to be used on `queue` only.
    static func by(_ service: ObjectIdentifier, on queue: DispatchQueue, _ body: () -> Void) {
        queue.setSpecific(key: key, value: service)
        body()
        queue.setSpecific(key: key, value: nil)
    }
}
