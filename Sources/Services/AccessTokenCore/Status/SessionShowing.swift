import AccessTokenFoundation
package import AccessTokenSynchronization

/// What can be seen of a session at a moment.
package struct SessionView: Hashable, Sendable {
    package let status: SessionStatus
    /// Whose session it is, as far as a look could tell.
    package let subject: String?
    /// Changes at sign-in and sign-out.
    package let sessionEpoch: Int
    /// Until when the view is right if nothing happens.
    let until: Date
    /// How often the session has changed.
    let changes: UInt32
}

/// A service whose session can be seen: both of this package.
package protocol SessionShowing: AnyObject, Sendable {
    nonisolated var sessionClock: any AccessTokenClock { get }
    nonisolated var view: SessionView { get }

    /// Signals each change to a watch, until it is removed.
    nonisolated func add(_ watch: SessionWatch)
    nonisolated func remove(_ watch: SessionWatch)

    /// What a look at the store has found: `false` if the session has changed since that look began.
    func looked(_ found: StoredSession?, since changes: UInt32) async -> Bool
}

extension SessionShowing {
    /// Looks at the store, and once more if the session has changed meanwhile.
    package nonisolated(nonsending) func lookAtStore(
        by stored: nonisolated(nonsending) () async throws -> StoredSession?
    ) async throws {
        // Of a session that changes each time, the service knows more than a look could say.
        for _ in 0..<3 {
            let changes = view.changes
            if await looked(try await stored(), since: changes) { return }
        }
    }

    /// What can be seen now, and from then on each other value; the newest if the loop is slow.
    ///
    /// It ends with the service, which it does not keep.
    package nonisolated func stream<Value: Equatable & Sendable>(
        of value: @escaping @Sendable (SessionView) -> Value
    ) -> AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let last = Locked<Value?>(nil)
            let watch = SessionWatch(of: self) { view in
                let new = value(view)
                let isOther = last.withLock { last in
                    defer { last = new }
                    return last != new
                }
                if isOther { continuation.yield(new) }
            } onEnd: {
                continuation.finish()
            }
            continuation.onTermination = { [weak self, weak watch] _ in
                if let watch { self?.remove(watch) }
            }
            add(watch)
            // It begins with the present view.
            watch.signal()
        }
    }
}
