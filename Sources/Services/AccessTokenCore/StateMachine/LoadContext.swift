/// What code inside of a load may have to know of the load; callback code as well as tasks.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1), and how an adapter of a loader
/// knows of the load that it hands on.
package struct LoadContext: Sendable {
    /// The loads inside which the code runs: the loads that wait for its own load, and that load as the last.
    package let loads: [LoadID]

    /// With what priority the load began.
    package let priority: UInt8

    /// Whether anybody still wants the load's answer.
    ///
    /// A loader that has taken its time to come to the server must not send a request that the next load sends as well.
    package let isWanted: @Sendable () -> Bool

    /// Pending until the load has ended: a task that it started may live on, and is not inside of it any more.
    package let end = OneShot<Void>(abandoned: ()) { _ in }

    /// Cancels the load's task, where it has one that the service does not know.
    package let cancellation: Cancellation

    package init(
        loads: [LoadID],
        priority: UInt8,
        cancellation: Cancellation = Cancellation(),
        isWanted: @escaping @Sendable () -> Bool
    ) {
        self.loads = loads
        self.priority = priority
        self.cancellation = cancellation
        self.isWanted = isWanted
    }

    /// The context of the present code; `nil` outside of a load.
    @TaskLocal package static var current: LoadContext?

    /// The context of the present code, if its load is running.
    package static var running: LoadContext? { current.flatMap { $0.end.isPending ? $0 : nil } }

    /// The loads inside which the present code runs, or began.
    package static var currentLoads: [LoadID] { current?.loads ?? [] }
}
