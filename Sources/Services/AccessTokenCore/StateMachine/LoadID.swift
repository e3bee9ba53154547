/// Names a service for as long as the process lives; an address would be used again.
@usableFromInline
package struct ServiceID: Hashable, Sendable {
    private static let last = Locked<UInt64>(0)

    private let number = last.withLock { last in
        last += 1
        return last
    }

    /// A name that no service had before.
    package init() {}
}

/// One load of one service: whose an answer or a deadline is, and which load a caller is inside of.
@usableFromInline
package struct LoadID: Hashable, Sendable {
    package let service: ServiceID

    /// Changes at sign-in and sign-out: nothing of an older session can touch a newer one.
    package let sessionEpoch: Int

    /// Counts the loads of a service from 1; a greater one is a newer one.
    package let number: Int
}
