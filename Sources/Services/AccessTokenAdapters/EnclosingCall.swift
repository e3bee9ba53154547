import AccessTokenSynchronization

/// A call of those that an adapter makes in order, for the code inside of it.
///
/// Code inside of the call does not wait for the calls before: it would wait for its own end. A task that the call has
/// started may outlive the call, and is not inside of it any more.
struct EnclosingCall: Sendable {
    @TaskLocal private static var current: EnclosingCall?

    /// No other order has this identifier as long as the call has not ended.
    private let order: ObjectIdentifier
    private let hasEnded = Latch()

    /// Whether the present code is inside of a call of this order.
    static func isInside(of order: AnyObject) -> Bool {
        current.map { $0.order == ObjectIdentifier(order) && !$0.hasEnded.hasFired } ?? false
    }

    /// Makes a call of this order.
    static func make(_ call: @Sendable () async -> Void, in order: AnyObject) async {
        let enclosing = EnclosingCall(order: ObjectIdentifier(order))
        await $current.withValue(enclosing) { await call() }
        enclosing.hasEnded.fire()
    }
}
