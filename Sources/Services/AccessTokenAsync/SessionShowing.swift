public import AccessTokenCore

extension AsyncAccessTokenService: SessionShowing {
    /// What an app shows of the session now, without loading or waiting.
    public nonisolated var sessionStatus: SessionStatus { view.status }

    /// The status now, and from then on each other one; the newest if the loop is slow.
    ///
    /// ```swift
    /// for await status in service.sessionStatuses() where status == .needsLogin { showLogin() }
    /// ```
    ///
    /// For a view there is ``ObservedSession``, from iOS 17 and macOS 14 on. The stream ends with the service, which it
    /// does not keep. What another process does with the store, the service learns at its next load, or by
    /// ``look(at:)``.
    public nonisolated func sessionStatuses() -> AsyncStream<SessionStatus> { stream { $0.status } }

    /// Looks at what is stored of the session, and asks no server: at launch, and when the app becomes active.
    ///
    /// If nothing is stored, or the session of another user, the service does not hand out its token any more, and
    /// ``sessionStatus`` says what was found. The next call loads; the loader has the last word. A service that was
    /// signed out stays so, whatever is stored.
    ///
    /// **Failure** What `stored` throws; nothing has changed then.
    ///
    /// - Parameter stored: says what is stored, `nil` for nothing: by `OAuthLoader.storedSession()`, or for a store of
    ///   your own.
    public nonisolated(nonsending) func look(
        at stored: nonisolated(nonsending) () async throws -> StoredSession?
    ) async throws {
        try await lookAtStore(by: stored)
    }

    package nonisolated var sessionClock: any AccessTokenClock { clock.base }
    package nonisolated var view: SessionView { snapshot.view(at: clock.now) }

    package nonisolated func add(_ watch: SessionWatch) { snapshot.add(watch) }
    package nonisolated func remove(_ watch: SessionWatch) { snapshot.remove(watch) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension ObservedSession {
    /// Observes the session of a service.
    ///
    /// - Parameters:
    ///   - service: whose session it is.
    ///   - stored: says what is stored, `nil` for nothing, and asks no server: by `OAuthLoader.storedSession()`, or for a
    ///     store of your own. Without it, nobody looks at the store.
    public convenience init(
        of service: AsyncAccessTokenService,
        stored: (@Sendable () async throws -> StoredSession?)? = nil
    ) {
        self.init(showing: service, stored: stored)
    }
}
