import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("What a process has seen of another one that was going to send")
struct SenderWatchTests {
    private static let start = Date(timeIntervalSinceReferenceDate: 1_000)

    private func note(number: Int = 1, isPresent: Bool) -> SentNote {
        var note = SentNote(sender: 2, number: number, count: 1, hasRival: false, sent: Self.start, patience: 20)
        note.isSenderPresent = isPresent
        return note
    }

    /// Whether a delay of 4 seconds is over after looks at moments, each of which finds the sender or does not.
    private func isOver(_ looks: [(seconds: TimeInterval, isPresent: Bool)]) -> Bool {
        var watch: SenderWatch?
        var now = Self.start
        for look in looks {
            now = Self.start + look.seconds
            watch = SenderWatch(watch, seeing: note(isPresent: look.isPresent), delay: 4, at: now)
        }
        return watch?.isOver(after: 4, at: now) == true
    }

    @Test func `a whole delay without the sender is its death`() {
        #expect(isOver([(0, false), (1, false), (2, false), (3, false), (4, false)]))
        #expect(!isOver([(0, false), (1, false), (2, false), (3.9, false)]))
    }

    @Test func `each look that finds the sender sets the count back`() {
        #expect(!isOver([(0, false), (2, false), (3, true), (4, false), (6, false), (7.9, false)]))
        #expect(isOver([(0, false), (2, false), (3, true), (4, false), (6, false), (8, false)]))
    }

    @Test(arguments: [200.0, -200])
    func `a clock that is set counts for nothing`(jump: TimeInterval) {
        #expect(!isOver([(0, false), (1, false), (1 + jump, false), (4.9 + jump, false)]))
        #expect(isOver([(0, false), (1, false), (1 + jump, false), (3 + jump, false), (5 + jump, false)]))
    }

    @Test func `nobody knows what happened between two looks that are far apart, unless the sender was dead before`() {
        #expect(!isOver([(0, false), (2, false), (3.9, false), (10, false), (12, false), (13.9, false)]))
        #expect(isOver([(0, false), (2, false), (4, false), (3600, false)]))
    }

    @Test func `a sender that lives is waited for until no reply can come any more`() {
        let looks = (0...19).map { (TimeInterval($0), true) }
        #expect(!isOver(looks))
        #expect(isOver(looks + [(20, true)]))
    }

    @Test func `another request is another watch`() {
        let first = SenderWatch(nil, seeing: note(isPresent: false), delay: 1, at: Self.start)
        let second = SenderWatch(first, seeing: note(number: 2, isPresent: false), delay: 1, at: Self.start + 1)
        #expect(!second.isOver(after: 1, at: Self.start + 1))
    }
}
