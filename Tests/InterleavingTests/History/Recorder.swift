import AccessTokenCore

/// Writes a history down, and lets the stage notice whatever others could notice.
final class Recorder: Sendable {
    private let history: Locked<History>
    private let stage: any Stage

    init(_ stage: any Stage, isByHandlers: Bool, cancelledCallers: Set<Int>) {
        self.stage = stage
        history = Locked(History(isByHandlers: isByHandlers, cancelledCallers: cancelledCallers))
    }

    /// Adds what touches the service or the world.
    func record(_ entry: History.Entry) {
        history.withLock { $0.entries.append(entry) }
        stage.notice(entry.description)
    }

    /// Adds what only the caller sees, in a task of its own: no other part can tell when that was.
    func recordQuietly(_ entry: History.Entry) {
        history.withLock { $0.entries.append(entry) }
    }

    /// The history, with what the service shows in the end.
    func finished(with finalToken: String??) -> History {
        history.withLock { history in
            history.finalToken = finalToken
            return history
        }
    }
}
