import AccessTokenCore
package import Foundation

/// The note in a record that its refresh token was sent, and that the reply is not in the record.
///
/// It is written before the request leaves: no other process sends the same refresh token while a reply can still come.
/// Code of before does not know it: it reads the record without the note, and writes records without notes.
package struct SentNote: Hashable, Sendable, Codable {
    /// What became of the request, as far as the sender has said.
    enum Outcome: Hashable, Sendable, Codable {
        /// The sender is going to send, waits for the reply, or has died.
        case awaited
        /// No reply is going to come, and the server may have carried the request out.
        case lost
        /// The server refused the refresh token, which an earlier sender may have exchanged.
        case refused
        /// A reply came after which the refresh token is not sent, for a while or until the app decides.
        case held(Hold)
    }

    /// A number that this process took at random, and the number of the request in this process.
    let sender: UInt64
    let number: Int
    /// How often the refresh token was sent, with this time.
    let count: Int
    /// Whether a process sent it before, and may still get a reply.
    let hasRival: Bool
    /// When it was sent, or its reply was lost, by the clock of the sender.
    var sent: Date
    /// Seconds after which no reply can come any more, unless the process was stopped.
    let patience: TimeInterval
    var outcome: Outcome = .awaited
    /// Under which number a store of a fleet knows whether the sender's process lives; `nil` in other stores.
    package var presence: Int64?
    /// Whether the process lives, as the store has found when the record was read; it is not written down.
    package var isSenderPresent = false
    /// Whether the sender is this process, in which no such request is under way; as above.
    package var isOver = false

    private enum CodingKeys: String, CodingKey {
        case sender, number, count, hasRival, sent, patience, outcome, presence
    }

    /// Whether the sender is going to send, waits for the reply, or has died.
    package var isAwaited: Bool { outcome == .awaited }

    /// Whether both are of one request.
    package func isSame(as other: SentNote?) -> Bool { sender == other?.sender && number == other?.number }

    /// Whether so many seconds have passed since the sending.
    ///
    /// A clock that was set back by a moment must not end a wait, and one that was set back by far must not prolong it.
    func isOlder(than seconds: TimeInterval, at now: Date) -> Bool {
        // Written so that an instant that is not a number is older.
        !(abs(now.timeIntervalSince(sent)) < seconds)
    }

    /// The count of a note for sending once more; the number may be anything that somebody has written.
    var nextCount: Int { min(count, 2) + 1 }

    /// Why the refresh token is not sent.
    var hold: DatedHold? {
        guard case .held(let hold) = outcome else { return nil }
        return DatedHold(hold: hold, since: sent)
    }

    func with(_ outcome: Outcome) -> SentNote {
        var note = self
        note.outcome = outcome
        return note
    }

    /// A gateway may take a minute to say so, and the next pause begins then.
    func lost(at now: Date) -> SentNote {
        var note = with(.lost)
        note.sent = now
        return note
    }

    func moved(by seconds: TimeInterval) -> SentNote {
        var note = self
        note.sent += seconds
        return note
    }
}

extension Credential {
    /// The note, for stores of a fleet: they know which processes live.
    package var sentNote: SentNote? { note }

    /// The same with another note, or without one.
    package func noting(_ note: SentNote?) -> Credential {
        var credential = self
        credential.note = note
        return credential
    }

    /// The same without what keeps its refresh token from being sent, for whichever key.
    var released: Credential {
        let credential = holding(nil)
        guard let note, note.hold != nil else { return credential }
        return credential.noting(note.hasRival ? note.with(.lost) : nil)
    }

    /// Whether both have the same tokens: what a store makes of a date need not be equal to the last digit.
    package func isSame(as other: Credential?) -> Bool {
        guard let other else { return false }
        return refreshToken.isExactly(other.refreshToken) && accessToken?.secret == other.accessToken?.secret
            && keyedValues == other.keyedValues
    }

    /// The same with dates that are so many seconds later, for stores whose dates are by another clock.
    package func moved(by seconds: TimeInterval) -> Credential {
        var credential = self
        credential.accessToken = accessToken?.moved(by: seconds)
        credential.obtained = obtained?.addingTimeInterval(seconds)
        return credential.noting(note?.moved(by: seconds)).keying(keyedTokens?.moved(by: seconds))
            .holding(keyedHolds?.map { $0.moved(by: seconds) })
    }
}
