/// What the state machine has to know of a caller.
@usableFromInline
package struct CallerContext: Sendable {
    /// The caller was cancelled already: it may have a token that is there, and start nothing (X3).
    @usableFromInline
    package var isCancelled: Bool

    /// A load runs with the highest priority of its waiters.
    @usableFromInline
    package var priority: UInt8

    /// The load of this service inside which the caller asks: that load would wait for itself (R1).
    @usableFromInline
    package var ownLoad: FlightID?

    /// All loads, of this service and others, inside which the caller asks; a load that it starts is inside them too.
    @usableFromInline
    package var loads: [LoadID]

    @usableFromInline
    package init(
        isCancelled: Bool = false,
        priority: UInt8 = 0,
        ownLoad: FlightID? = nil,
        loads: [LoadID] = []
    ) {
        self.isCancelled = isCancelled
        self.priority = priority
        self.ownLoad = ownLoad
        self.loads = loads
    }
}

/// One load of one service.
@usableFromInline
package struct LoadID: Sendable {
    package let service: ObjectIdentifier
    package let flight: FlightID

    package init(of service: AnyObject, _ flight: FlightID) {
        self.service = ObjectIdentifier(service)
        self.flight = flight
    }
}

extension [LoadID] {
    /// The innermost load of the service, if there is one among these.
    package func flight(of service: AnyObject) -> FlightID? {
        last { $0.service == ObjectIdentifier(service) }?.flight
    }
}
