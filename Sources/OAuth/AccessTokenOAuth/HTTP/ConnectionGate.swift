import AccessTokenSynchronization
import Dispatch

/// Lets so many connections be open at once; the other requests wait in line.
///
/// `URLSession` on Linux counts the connections of one session only, and there each exchange has a session of its own.
final class ConnectionGate: Sendable {
    /// A connection's place, which is free again when its last reference goes.
    final class Place: Sendable {
        private let gate: ConnectionGate

        fileprivate init(_ gate: ConnectionGate) { self.gate = gate }

        deinit { gate.giveUpPlace() }
    }

    private struct State {
        var freePlaces: Int
        var waiting: [@Sendable (Place) -> Void] = []
    }

    private let state: Locked<State>

    init(limit: Int) {
        state = Locked(State(freePlaces: max(1, limit)))
    }

    /// How many requests wait for a place.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Calls back with a place, at once if there is one, or later on another thread.
    func enter(then body: @escaping @Sendable (Place) -> Void) {
        let isFree = state.withLock { state in
            guard state.freePlaces > 0 else {
                state.waiting.append(body)
                return false
            }
            state.freePlaces -= 1
            return true
        }
        if isFree { body(Place(self)) }
    }

    private func giveUpPlace() {
        let next = state.withLock { state -> (@Sendable (Place) -> Void)? in
            guard !state.waiting.isEmpty else {
                state.freePlaces += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        guard let next else { return }
        let place = Place(self)
        // On another thread: a request that gives its place up at once would call the next one from inside, and so on.
        DispatchQueue.global().async { next(place) }
    }
}
