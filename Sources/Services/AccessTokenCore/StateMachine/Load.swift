package import AccessTokenSynchronization

/// A load that the loader is asked for, by the service that was told to start it.
package struct Load: Sendable {
    /// Identifies one load of one service: answers, deadlines and callers inside a load carry it.
    package struct ID: Hashable, Sendable {
        package let service: ServiceID

        /// Changes at sign-in and sign-out: nothing of an older session can touch a newer one.
        package let sessionEpoch: Int

        /// Counts the loads of a service from 1; a greater one is a newer one.
        package let number: Int
    }

    package let id: ID

    /// The token that is no good any more, or soon will be.
    package let replacing: AccessToken?

    /// The loads inside which it runs, itself the last.
    package let enclosing: [ID]

    /// Fires when a sign-out cancels the load.
    package let cancelled = Latch()

    /// Fires when the load has ended, or was given up before it could begin: its deadline is over.
    ///
    /// A task that the load has started may live on, and is not inside of the load any more.
    package let ended = Latch()
}
