package import AccessTokenCore
import AccessTokenSynchronization
package import Foundation

/// What happened in a run, line by line, and who waits for something to happen.
///
/// The suite waits for events, never for time: a time limit only ends a wait that a broken subject would make endless.
package final class RunLog: Sendable {
    private struct Wait {
        let id: Int
        var ticks: Int
        let condition: @Sendable () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Most lines are never read: what describes itself is kept as it is.
    private struct Line {
        let head: String
        let value: (any Sendable & CustomStringConvertible)?

        var text: String { value.map { shortened(head + "\($0)") } ?? head }
    }

    private struct State {
        var lines = 0
        var first: [Line] = []
        var last: [Line] = []
        var events: [AccessTokenEvent] = []
        var names: [(value: String, name: String)] = []
        var waits: [Wait] = []
        var lastWait = 0
        /// Whether ticks are counted here.
        var isCounted = false
    }

    /// A subject in an endless loop fills no memory: so many lines stay of the beginning, and as many of the end.
    private static let longestPart = 60
    private static let longestLine = 300

    private let state = Locked(State())

    private static func shortened(_ line: String) -> String {
        line.count > longestLine ? "\(line.prefix(longestLine))…" : line
    }

    package init() {}

    /// Grows with each line.
    package var lines: Int { state.withLock { $0.lines } }
    package var events: [AccessTokenEvent] { state.withLock { $0.events } }

    package var trace: [String] {
        // What a value says of itself is said outside of the lock.
        let (lines, first, last) = state.withLock { ($0.lines, $0.first, $0.last) }
        let left = lines - first.count - last.count
        return first.map(\.text) + (left > 0 ? ["… \(left) more …"] : []) + last.map(\.text)
    }

    /// Gives a token a name: traces can speak of it without its value.
    package func name(_ token: AccessToken, _ name: String) {
        state.withLock { $0.names.append((token.value, name)) }
    }

    package func name(_ token: AccessToken) -> String {
        state.withLock { state in state.names.last { $0.value == token.value }?.name ?? "a token of its own" }
    }

    package func text(_ result: LoadResult) -> String {
        switch result {
        case .success(let token): name(token)
        case .failure(let error): error.inReports
        }
    }

    /// - Parameter value: what stands behind the words.
    package func happened(_ words: String, _ value: (any Sendable & CustomStringConvertible)? = nil) {
        let isLong = words.utf8.count > Self.longestLine
        let line = Line(head: isLong ? Self.shortened(words) : words, value: value)
        state.withLock { state in
            state.lines += 1
            if state.first.count < Self.longestPart {
                state.first.append(line)
            } else {
                if state.last.count == Self.longestPart { state.last.removeFirst() }
                state.last.append(line)
            }
        }
        check()
    }

    package func happened(_ event: AccessTokenEvent) {
        state.withLock { state in
            if state.events.count < 1000 { state.events.append(event) }
        }
        happened("event: ", event)
    }

    /// Waits until `condition` holds, which is looked at after each change; says whether it does.
    package func wait(_ limit: TimeInterval, until condition: @escaping @Sendable () -> Bool) async -> Bool {
        if condition() { return true }
        return await withCheckedContinuation { continuation in
            let isCounted = state.withLock { state in
                state.lastWait += 1
                let ticks = TimeLimit.ticks(limit)
                state.waits.append(
                    Wait(id: state.lastWait, ticks: ticks, condition: condition, continuation: continuation)
                )
                defer { state.isCounted = true }
                return state.isCounted
            }
            if !isCounted { TimeLimit.count(for: self) }
            check()
        }
    }

    /// Looks at all conditions again: something changed that leaves no line in the trace.
    package func check() {
        for wait in state.withLock({ $0.waits }) where wait.condition() {
            let isThere = state.withLock { state in
                state.waits.firstIndex { $0.id == wait.id }.map { state.waits.remove(at: $0) } != nil
            }
            if isThere { wait.continuation.resume(returning: true) }
        }
    }

    /// Ends the waits for which this was the last tick; says whether there are others.
    func countTick() -> Bool {
        let (ended, isCounted) = state.withLock { state in
            for index in state.waits.indices { state.waits[index].ticks -= 1 }
            let ended = state.waits.filter { $0.ticks == 0 }
            state.waits.removeAll { $0.ticks == 0 }
            state.isCounted = !state.waits.isEmpty
            return (ended, state.isCounted)
        }
        for wait in ended { wait.continuation.resume(returning: wait.condition()) }
        return isCounted
    }
}

extension Error {
    /// By its name in code if it is one of ours: what it tells an app's developer to do next is not for reports.
    package var inReports: String {
        (self as? AccessTokenError).map { "AccessTokenError.\($0.logCode)" } ?? "the error \(self)"
    }
}
