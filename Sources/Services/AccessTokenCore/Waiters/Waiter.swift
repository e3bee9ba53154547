/// A caller that has to be answered: callback code, or a task.
package enum Waiter: Sendable {
    /// Names one waiter of one service, for its cancellation; never used for another waiter.
    package typealias ID = Int

    /// A struct, since a list of bare closures would allocate memory once more for each.
    package struct Handler: Sendable {
        let call: @Sendable (LoadResult) -> Void
    }

    /// Is called where answers keep the order of the decisions.
    case handler(Handler)

    package static func handler(_ handler: @escaping @Sendable (LoadResult) -> Void) -> Waiter {
        .handler(Handler(call: handler))
    }

    /// Is resumed when the service's queue has been left: the task's executor may do anything.
    case task(Suspension)
}
