import AccessTokenSynchronization

/// Names a service for as long as the process lives; an address would be used again.
package struct ServiceID: Hashable, Sendable {
    private static let last = Locked<UInt64>(0)

    private let number = last.withLock { last in
        last += 1
        return last
    }
}
