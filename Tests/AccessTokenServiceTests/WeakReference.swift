import AccessTokenContract

/// Looks at an object without keeping it.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var object: Object?
    }

    private let reference: Locked<Reference>

    init(_ object: Object?) { reference = Locked(Reference(object: object)) }

    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}

/// Lets other tasks run until `condition` holds, for what gives no event; gives up after a minute, so that a test that
/// must fail does so.
func yieldUntil(_ condition: () -> Bool) async {
    let start = ContinuousClock.now
    while !condition(), start.duration(to: .now) < .seconds(60) { await Task.yield() }
}
