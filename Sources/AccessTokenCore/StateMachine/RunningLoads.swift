/// The loads that a loader is running, and what waits for their end: a sign-out lets the loader forget the session only
/// when none of them can store a credential any more.
///
/// A load leaves at its end or at its deadline, whichever comes first: nothing waits for a load that is past its deadline.
package struct RunningLoads: Sendable {
    package typealias Action = @Sendable () -> Void

    private struct Wait: Sendable {
        var loads: [FlightID]
        let action: Action
    }

    private var loads: [FlightID] = []
    private var waits: [Wait] = []

    package init() {}

    /// Whether one of these loads of the service is running.
    package func contains(oneOf loads: [LoadID], of service: ServiceID) -> Bool {
        loads.contains { $0.service == service && self.loads.contains($0.flight) }
    }

    /// The loader is asked.
    package mutating func begin(_ load: FlightID) {
        loads.append(load)
    }

    /// A load is over, or past its deadline.
    ///
    /// - Returns: what waited for this load and for no other, to be called now.
    package mutating func end(_ load: FlightID) -> [Action] {
        loads.removeAll { $0 == load }
        for index in waits.indices { waits[index].loads.removeAll { $0 == load } }
        defer { waits.removeAll { $0.loads.isEmpty } }
        return waits.filter { $0.loads.isEmpty }.map(\.action)
    }

    /// Waits for the loads of the sessions before this one.
    ///
    /// - Returns: false if none is running: then `action` is not kept.
    package mutating func wait(forSessionsBefore epoch: Int, then action: @escaping Action) -> Bool {
        let former = loads.filter { $0.sessionEpoch < epoch }
        guard !former.isEmpty else { return false }
        waits.append(Wait(loads: former, action: action))
        return true
    }
}
