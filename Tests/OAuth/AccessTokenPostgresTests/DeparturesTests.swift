#if Postgres
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenPostgres

@Suite("Rows that a process has left", .endsHangs)
struct DeparturesTests {
    private struct Unreachable: Error {}

    private let clock = ManualClock()
    private let entry = Departures.Entry(account: "user", number: Data("1".utf8))

    /// Expects that an entry is left at these seconds, if the first attempts fail.
    private func expectAttempts(
        at seconds: [Int],
        isLeft: Bool = false,
        isCertain: Bool = false,
        failures: Int = 0
    ) async {
        let state = Locked((now: 0, attempts: [Int]()))
        let departures = Departures(clock: clock) { _ in
            let count = state.withLock { state in
                state.attempts.append(state.now)
                return state.attempts.count
            }
            if count <= failures { throw Unreachable() }
        }
        await departures.add(entry, isLeft: isLeft, isCertain: isCertain)
        for second in stride(from: 1, through: seconds.last ?? 0, by: 1) {
            await yieldUntil { clock.pendingTimers == 1 }
            state.withLock { $0.now = second }
            clock.advance(by: 1)
        }
        await yieldUntil { state.withLock { $0.attempts.count } >= seconds.count }
        #expect(state.withLock { $0.attempts } == seconds)
        withExtendedLifetime(departures) {}
    }

    @Test func `a row is left at once, and no second time if it is known that it was entered`() async {
        await expectAttempts(at: [0], isCertain: true)
        await expectAttempts(at: [], isLeft: true, isCertain: true)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a row whose entry may still arrive is left again, ever more seldom`() async {
        await expectAttempts(at: [1, 2, 4, 8, 16, 32, 64], isLeft: true)
    }

    @Test func `a row that cannot be left is left as soon as it can be, however late`() async {
        let last = [202, 204, 208, 216, 232, 264]
        await expectAttempts(at: Array(0...201) + last, isCertain: true, failures: 201)
    }
}
#endif
