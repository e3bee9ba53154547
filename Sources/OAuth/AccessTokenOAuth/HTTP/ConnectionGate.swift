import AccessTokenCore
import Dispatch

/// Lets so many connections to a host be open at once; the others wait in line.
///
/// `URLSession` on Linux counts the connections of one session only, and there each exchange has a session of its own.
final class ConnectionGate: Sendable {
    /// A connection's place, which is free again when nobody holds it any more.
    final class Place: Sendable {
        private let gate: ConnectionGate
        private let host: String

        fileprivate init(_ gate: ConnectionGate, _ host: String) {
            self.gate = gate
            self.host = host
        }

        deinit { gate.placeGivenUp(host) }
    }

    private struct Line: Sendable {
        var placesTaken = 0
        /// A slice, since to take its first element moves no other; it would keep the element, which is cleared before.
        private var waiting: ArraySlice<(@Sendable (Place) -> Void)?> = []

        mutating func append(_ body: @escaping @Sendable (Place) -> Void) {
            waiting.append(body)
        }

        mutating func popFirst() -> (@Sendable (Place) -> Void)? {
            guard !waiting.isEmpty else { return nil }
            let first = waiting[waiting.startIndex].take()
            waiting.removeFirst()
            return first
        }
    }

    private let limit: Int
    private let lines = Locked<[String: Line]>([:])

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Calls back with a place, at once if there is one, or later on another thread.
    func enter(_ host: String, then body: @escaping @Sendable (Place) -> Void) {
        let isFree = lines.withLock { lines in
            if lines[host, default: Line()].placesTaken < limit {
                lines[host, default: Line()].placesTaken += 1
                return true
            }
            lines[host]?.append(body)
            return false
        }
        if isFree { body(Place(self, host)) }
    }

    private func placeGivenUp(_ host: String) {
        let next = lines.withLock { lines -> (@Sendable (Place) -> Void)? in
            if let next = lines[host]?.popFirst() { return next }
            lines[host]?.placesTaken -= 1
            if lines[host]?.placesTaken == 0 { lines[host] = nil }
            return nil
        }
        guard let next else { return }
        let place = Place(self, host)
        // Not here: one that gives its place up at once would call the next one from inside, and so on.
        DispatchQueue.global().async { next(place) }
    }
}
