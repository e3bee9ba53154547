import AccessTokenSynchronization

/// Looks at an object without keeping it.
package final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    // Swift 6.2.0 to 6.2.2 have no `weak let`.
    private struct Reference: Sendable {
        weak var object: Object?
    }

    private let reference: Locked<Reference>

    package init(_ object: Object?) { reference = Locked(Reference(object: object)) }

    package var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
