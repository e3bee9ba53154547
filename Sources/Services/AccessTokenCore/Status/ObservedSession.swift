import AccessTokenFoundation
import AccessTokenSynchronization
public import Observation

/// A session that a view observes, of an async service or of a queue service.
///
/// ```swift
/// let session = ObservedSession(of: tokens, stored: { try await loader.storedSession() })
/// switch session.status {
/// case .unknown: ProgressView()
/// case .signedIn, .expired: NotesView().id(session.subject)
/// case .needsLogin, .signedOut: LoginView()
/// }
/// ```
///
/// It follows what the service does: sign-ins, sign-outs, loads, rejections, the end of a token's life. What other
/// processes do with the store, the service learns at its next load, or by ``look()``. Call that when the app becomes
/// active, or have ``follow(every:)`` call it while a view is there.
///
/// **Concurrency** All of it is on the main actor. A change of the service is seen a moment later; the calls of the
/// service itself never wait for it. It keeps the service.
///
/// Before iOS 17 and macOS 14 there is no `Observation`: `sessionStatuses()` of the service says the same.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable
public final class ObservedSession {
    /// What the app shows.
    public private(set) var status: SessionStatus

    /// Whose session is stored, as ``StoredSession/subject`` says; `nil` while nobody knows.
    ///
    /// It changes when another user signs in, here or in another process: make the content's views anew for each.
    public private(set) var subject: String?

    /// Why the last look at the store failed; `nil` if it did not.
    ///
    /// A store that cannot be read is no sign-out: the status stays as it was.
    public private(set) var failure: (any Error)?

    @ObservationIgnored private let service: any SessionShowing
    @ObservationIgnored private let stored: (@Sendable () async throws -> StoredSession?)?
    /// What the last look at the store followed.
    @ObservationIgnored private var looked: (status: SessionStatus, sessionEpoch: Int)?
    @ObservationIgnored private var looks = 0
    /// The number of the look that ``failure`` is of.
    @ObservationIgnored private var lastHeard = 0
    @ObservationIgnored private var following: Task<Void, Never>?

    package init(showing service: any SessionShowing, stored: (@Sendable () async throws -> StoredSession?)?) {
        let view = service.view
        (status, subject) = (view.status, view.subject)
        self.service = service
        self.stored = stored
        let views = service.stream { $0 }
        following = Task { [weak self] in
            for await _ in views { self?.serviceChanged() }
        }
    }

    deinit { following?.cancel() }

    /// Looks at what is stored, and asks no server; without `stored` there is nothing to look at.
    ///
    /// What it finds counts for the service as well: the token of a session that is not stored any more is not handed
    /// out.
    public func look() async {
        guard let stored else { return }
        looks += 1
        let look = looks
        do {
            try await service.lookAtStore(by: stored)
            say(nil, after: look)
        } catch is CancellationError {
            // The view has gone.
        } catch {
            say(error, after: look)
        }
        show(service.view)
    }

    /// A look that began later, and has ended already, knows better.
    private func say(_ failure: (any Error)?, after look: Int) {
        guard look > lastHeard else { return }
        (self.failure, lastHeard) = (failure, look)
    }

    /// Looks at once, and then again after each pause, until the task is cancelled: for the `task` of a view.
    ///
    /// - Parameter seconds: between two looks; at least one.
    public func follow(every seconds: Double = 10) async {
        while !Task.isCancelled {
            await look()
            try? await service.sessionClock.pause(for: max(1, seconds))
        }
    }

    private func serviceChanged() {
        let view = service.view
        show(view)
        guard looked?.status != view.status || looked?.sessionEpoch != view.sessionEpoch else { return }
        // The beginning of a session says nothing of its user, and its end nothing of what is still stored.
        looked = (view.status, view.sessionEpoch)
        Task { await look() }
    }

    private func show(_ view: SessionView) {
        // No view is made anew for a value that is the same: the macro compares.
        (status, subject) = (view.status, view.subject)
    }
}
