import AccessTokenSynchronization

/// A call of those that an adapter makes in order, for the code inside of it.
///
/// Code inside of the call does not wait for the calls before: it would wait for its own end. A task that the call has
/// started may outlive the call, and is not inside of it any more.
struct EnclosingCall: Sendable {
    /// An adapter can be called inside of another one's call: the innermost call is the last.
    @TaskLocal private static var current: [EnclosingCall] = []

    /// No other order has this identifier as long as the call has not ended.
    private let order: ObjectIdentifier
    private let hasEnded = Latch()

    /// Whether the present code is inside of a call of this order.
    static func isInside(of order: AnyObject) -> Bool {
        current.contains { $0.order == ObjectIdentifier(order) && !$0.hasEnded.hasFired }
    }

    /// Makes a call of this order.
    static func make(_ call: @Sendable () async -> Void, in order: AnyObject) async {
        let enclosing = EnclosingCall(order: ObjectIdentifier(order))
        // A task that outlives its call, and makes others, would make the list longer each time.
        let others = current.filter { !$0.hasEnded.hasFired }
        await $current.withValue(others + [enclosing]) { await call() }
        enclosing.hasEnded.fire()
    }
}
