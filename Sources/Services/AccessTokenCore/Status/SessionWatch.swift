import AccessTokenFoundation
import AccessTokenSynchronization

/// Tells one observer what can be seen of a session, at each change and when the token expires.
///
/// The service keeps it. It reads in tasks of its own, one after the other: an observer is told the newest view last,
/// and holds up no decision.
final class SessionWatch: Sendable {
    private enum Progress {
        case idle, isReading, readsAgain
    }

    private let progress = Locked(Progress.idle)
    private let timer = Locked<AccessTokenTimer?>(nil)
    private let number = Locked<SessionSignals.ID?>(nil)
    private let read: @Sendable () -> (view: SessionView, clock: any AccessTokenClock)?
    private let onView: @Sendable (SessionView) -> Void
    private let onEnd: @Sendable () -> Void

    /// Begins with the present view.
    init(
        of service: some SessionShowing,
        onView: @escaping @Sendable (SessionView) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        read = { [weak service] in service.map { ($0.view, $0.sessionClock) } }
        self.onView = onView
        self.onEnd = onEnd
        let id = service.addSignal { self.signal() }
        number.withLock { $0 = id }
        signal()
    }

    deinit {
        timer.withLock { $0 }?.cancel()
        onEnd()
    }

    var id: SessionSignals.ID? { number.withLock { $0 } }

    private func signal() {
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
            onView(view)
            plan(view.until, by: clock)
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
            next = clock.schedule(after: instant.timeIntervalSince(clock.now)) { [weak self] in self?.signal() }
        }
        timer.withLock { timer in
            defer { timer = next }
            return timer
        }?.cancel()
    }
}

/// Those who want to know of each change of a session.
package struct SessionSignals: Sendable {
    package typealias ID = Int

    private var last = 0
    private var signals: [ID: @Sendable () -> Void] = [:]

    var all: [@Sendable () -> Void] { Array(signals.values) }

    mutating func add(_ signal: @escaping @Sendable () -> Void) -> ID {
        last += 1
        signals[last] = signal
        return last
    }

    /// Returns the signal, which the caller releases.
    mutating func remove(_ id: ID) -> (@Sendable () -> Void)? { signals.removeValue(forKey: id) }
}
