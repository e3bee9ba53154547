#if Postgres
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation

/// Rows that this process has left, and that may name it all the same.
///
/// A statement that brought no answer can reach the server later: the one that enters a row then enters it for nobody.
/// Such a row is left once more after 1, 2, 4 and so on to 32 seconds, and so it names nobody for longer than the
/// statement was late. One that could not be left is left as soon as the server can be reached. Leaving an entry that
/// was left does nothing.
final class Departures: Sendable {
    /// An entry into the row of an account.
    struct Entry: Sendable {
        let account: String
        let number: Data
    }

    private struct Departure {
        let entry: Entry
        /// Seconds until the next attempt.
        var left: TimeInterval
        /// Seconds between the next attempt and the one after that.
        var pause: TimeInterval
    }

    private struct State {
        var departures: [Departure] = []
        var isRunning = false
    }

    private static let longestPause: TimeInterval = 32

    private let clock: any AccessTokenClock
    private let leave: @Sendable (Entry) async throws -> Void
    private let state = Locked(State())

    /// - Parameter leave: gives up the entry in its row, if it is there.
    init(clock: any AccessTokenClock, leave: @escaping @Sendable (Entry) async throws -> Void) {
        self.clock = clock
        self.leave = leave
    }

    /// Leaves a row.
    ///
    /// - Parameters:
    ///   - isLeft: whether the row was left by the statement that wrote it.
    ///   - isCertain: whether each statement that enters the row has had its answer.
    func add(_ entry: Entry, isLeft: Bool, isCertain: Bool) async {
        var isLeft = isLeft
        if !isLeft { isLeft = (try? await leave(entry)) != nil }
        guard !isLeft || !isCertain else { return }
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            state.departures.append(Departure(entry: entry, left: 1, pause: 1))
            return !state.isRunning
        }
        if isFirst { start() }
    }

    private func start() {
        Task { [clock, weak self] in
            while (try? await clock.pause(for: 1)) != nil {
                guard let self, await leaveAgain() else { return }
            }
        }
    }

    /// Attempts those that are due; `false` if there are no departures any more.
    private func leaveAgain() async -> Bool {
        let due = state.withLock { state in
            for index in state.departures.indices { state.departures[index].left -= 1 }
            defer { state.departures.removeAll { $0.left <= 0 } }
            return state.departures.filter { $0.left <= 0 }
        }
        var next: [Departure] = []
        for departure in due {
            if (try? await leave(departure.entry)) == nil {
                next.append(Departure(entry: departure.entry, left: 1, pause: departure.pause))
            } else if departure.pause <= Self.longestPause {
                let pause = departure.pause
                next.append(Departure(entry: departure.entry, left: pause, pause: pause * 2))
            }
        }
        return state.withLock { state in
            state.departures += next
            state.isRunning = !state.departures.isEmpty
            return state.isRunning
        }
    }
}
#endif
