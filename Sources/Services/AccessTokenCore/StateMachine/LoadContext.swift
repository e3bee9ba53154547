package import AccessTokenSynchronization

/// What code inside of a load may have to know of the load; callback code as well as tasks.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1), and how an adapter of a
/// loader knows of the load that it hands on.
package struct LoadContext: Sendable {
    /// The loads inside which the code runs: the loads that wait for its own load, and that load as the last.
    package let loads: [Load.ID]

    /// Whether anybody still wants the load's answer.
    ///
    /// A loader that has taken its time to come to the server must not send a request that the next load sends as well.
    package let isWanted: @Sendable () -> Bool

    /// Fires when a sign-out cancels the load, which may have a task that the service does not know.
    package let cancelled: Latch

    private let ended: Latch

    /// The context of a load for as long as the loader runs it.
    package init(of load: Load, isWanted: @escaping @Sendable () -> Bool) {
        (loads, cancelled, ended) = (load.enclosing, load.cancelled, load.ended)
        // It ends before the service has decided what follows.
        self.isWanted = { [ended = load.ended] in !ended.hasFired && isWanted() }
    }

    /// The context of the present code; `nil` outside of a load.
    @TaskLocal package static var current: LoadContext?

    /// The context of the present code, if its load is running.
    package static var running: LoadContext? { current.flatMap { $0.ended.hasFired ? nil : $0 } }

    /// The loads that started the present code.
    package static var currentLoads: [Load.ID] { current?.loads ?? [] }
}
