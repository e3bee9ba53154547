import Foundation

/// What this process has seen of another process that has announced a request: for how long that process is gone.
///
/// Each process counts by its own clock and its own looks. No other process needs to know the count.
struct SenderWatch: Hashable, Sendable {
    /// Seconds between two looks after which nobody knows what has happened in between: the count begins anew.
    ///
    /// So a sender is seen, or sets the count back, if it is there for as long on end.
    static let longestGap: TimeInterval = 2

    /// The request that was announced, as the last look found it.
    let note: SentNote
    /// Seconds for which each look has found the sender gone.
    private(set) var absence: TimeInterval = 0
    /// Seconds for which looks have found the note.
    private(set) var wait: TimeInterval = 0
    let lastLook: Date

    /// A look at a note, which goes on with the watch before it, if that is of the same request.
    ///
    /// - Parameter delay: seconds without the sender after which it is known to be dead.
    init(_ former: SenderWatch?, seeing note: SentNote, delay: TimeInterval, at now: Date) {
        self.note = note
        lastLook = now
        guard let former, former.note.isSame(as: note) else { return }
        // A clock that is set looks like a gap, and counts for nothing.
        let gap = now.timeIntervalSince(former.lastLook)
        let isUnbroken = gap >= 0 && gap <= Self.longestGap
        wait = former.wait + (isUnbroken ? gap : 0)
        // Each look that finds the sender sets the count back.
        guard !note.isSenderPresent, !former.note.isSenderPresent else { return }
        absence = isUnbroken ? former.absence + gap : former.absence >= delay ? former.absence : 0
    }

    /// Whether nobody has to wait for the sender any more.
    ///
    /// Where the delay is infinite, nobody can see whether a sender lives, and only time ends the wait.
    func isOver(after delay: TimeInterval, at now: Date) -> Bool {
        if delay == .infinity { return note.isOlder(than: note.patience, at: now) }
        // A sender that lives may have forgotten the note, if it could not be removed.
        return note.isSenderPresent ? wait >= note.patience : absence >= delay
    }
}
