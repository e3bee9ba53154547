/// All who wait for a load, in the order in which they came (D2).
///
/// A waiter is in here until it is taken out, and whoever takes it out answers it: so each is answered once (D1).
package struct Waiters: Sendable {
    private var handlers = WaiterList<Waiter.Handler>()
    private var tasks = WaiterList<Suspension>()
    private var lastID: Waiter.ID = 0
    /// See ``PendingCallers``.
    var isOpen = false

    package init() {}

    /// How many wait.
    package var count: Int { handlers.count + tasks.count }

    /// Adds a waiter behind the others; returns its name.
    package mutating func append(_ waiter: Waiter) -> Waiter.ID {
        lastID += 1
        switch waiter {
        case .handler(let handler): handlers.append(handler, as: lastID)
        case .task(let suspension): tasks.append(suspension, as: lastID)
        }
        return lastID
    }

    /// Takes one out, unless it has been taken already.
    package mutating func take(_ id: Waiter.ID) -> Waiter? {
        handlers.take(id).map(Waiter.handler) ?? tasks.take(id).map(Waiter.task)
    }

    /// Takes all of them out, to be given this answer.
    package mutating func takeAll(toAnswer result: LoadResult) -> Answer {
        Answer(to: handlers.takeAll(), tasks.takeAll(), result)
    }
}
