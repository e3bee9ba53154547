import AccessTokenFoundation
import AccessTokenSynchronization

/// Tells one observer what can be seen of a session, at each change and when the token expires.
///
/// The service keeps it, and signals each change to it, in the middle of a decision. It reads in tasks of its own, one
/// after the other: an observer is told the newest view last, and holds up no decision.
package final class SessionWatch: Sendable {
    private enum Progress {
        case idle, isReading, readsAgain
    }

    private let progress = Locked(Progress.idle)
    private let timer = Locked<AccessTokenTimer?>(nil)
    private let read: @Sendable () -> (view: SessionView, clock: any AccessTokenClock)?
    private let onView: @Sendable (SessionView) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        of service: some SessionShowing,
        onView: @escaping @Sendable (SessionView) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        read = { [weak service] in service.map { ($0.view, $0.sessionClock) } }
        self.onView = onView
        self.onEnd = onEnd
    }

    deinit {
        // In the middle of a decision, perhaps: a timer of the app's own may call the service when it is cancelled.
        TaskStarter()() { [timer = timer.withLock { $0 }, onEnd] in
            timer?.cancel()
            onEnd()
        }
    }

    /// The view may be another one.
    func signal() {
        let begins = progress.withLock { progress in
            defer { progress = progress == .idle ? .isReading : .readsAgain }
            return progress == .idle
        }
        if begins { TaskStarter()() { self.tell() } }
    }

    private func tell() {
        repeat {
            progress.withLock { $0 = .isReading }
            guard let (view, clock) = read() else { return }
            // Whoever is told may let the time pass.
            plan(view.until, by: clock)
            onView(view)
        } while !progress.withLock { progress in
            guard progress == .isReading else { return false }
            progress = .idle
            return true
        }
    }

    /// A wall clock that is set, or a device that sleeps, makes the timer come at another moment: then it is set anew.
    private func plan(_ instant: Date, by clock: any AccessTokenClock) {
        var next: AccessTokenTimer?
        if instant != .distantFuture {
            // The clock may be an app's, and the instant may have come.
            let delay = min(max(0, instant.timeIntervalSince(clock.now)), .century)
            next = clock.schedule(after: delay) { [weak self] in self?.signal() }
        }
        timer.withLock { timer in
            defer { timer = next }
            return timer
        }?.cancel()
    }
}
