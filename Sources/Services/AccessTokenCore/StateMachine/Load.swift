package import AccessTokenSynchronization

/// A load that the loader is asked for, by the service that was told to start it.
package struct Load: Sendable {
    package let id: LoadID

    /// The token that is no good any more, or soon will be.
    package let replacing: AccessToken?

    /// The loads inside which it runs, itself the last.
    package let enclosing: [LoadID]

    /// Fires when a sign-out cancels the load.
    package let cancelled = Latch()
}
