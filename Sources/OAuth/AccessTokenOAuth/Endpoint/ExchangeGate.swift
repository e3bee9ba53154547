import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Where the exchanges of an endpoint wait for their turn; it carries out what the ``ExchangeLine`` decides.
///
/// Who waits holds no thread, no connection and no credential. Nobody polls: waiters are let in by the end of another
/// exchange, or by one timer for all.
final class ExchangeGate: Sendable {
    /// One exchange may be in flight, until this ends or goes.
    final class Turn: Sendable {
        private let gate: Locked<ExchangeGate?>

        fileprivate init(_ gate: ExchangeGate) { self.gate = Locked(gate) }

        deinit { end() }

        func end() { gate.withLock { $0.take() }?.endTurn() }
    }

    private typealias Waiter = CheckedContinuation<Turn, any Error>

    private struct State: Sendable {
        var line: ExchangeLine
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
        /// Seconds that have passed by the wall clock; none have where that was set back.
        var elapsed: TimeInterval = 0
        var lastNow: Date
        /// When the next timer is due.
        var due = TimeInterval.infinity

        mutating func advance(to now: Date) {
            elapsed += max(0, now.timeIntervalSince(lastNow))
            lastNow = now
        }

        /// The waiter that a step lets in, or fails.
        mutating func end(of step: ExchangeLine.Step) -> (waiter: Waiter, error: OAuthError?)? {
            switch step {
            case .send(let number): waiters.removeValue(forKey: number).map { ($0, nil) }
            case .fail(let number, let error): waiters.removeValue(forKey: number).map { ($0, error) }
            }
        }
    }

    private let clock: any AccessTokenClock
    private let state: Locked<State>

    init(limit: Int = ExchangeLine.usualLimit, patience: TimeInterval, clock: any AccessTokenClock) {
        self.clock = clock
        state = Locked(State(line: ExchangeLine(limit: limit, patience: patience), lastNow: clock.now))
    }

    var waiting: Int { state.withLock { $0.line.waiting } }
    var inFlight: Int { state.withLock { $0.line.inFlight } }

    /// A turn, if nobody has to wait for one.
    func turnAtOnce() -> Turn? {
        change { $0.line.enterAtOnce(at: $0.elapsed) } ? Turn(self) : nil
    }

    /// Waits for a turn; throws `CancellationError` as soon as the task is cancelled, or what the line says.
    func turn(_ kind: ExchangeLine.Kind) async throws -> Turn {
        if let turn = turnAtOnce() { return turn }
        let number = nextNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                change { state in
                    state.waiters[number] = waiter
                    state.line.enter(number, kind, at: state.elapsed)
                }
                // A cancellation before this moment is seen here. A later one finds the waiter.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Of an exchange that is sent now.
    var volley: Int { state.withLock { $0.line.volley } }

    /// The server has answered an exchange of a ``volley``; to be told before the exchange's turn ends.
    func answered(_ status: Int, retryAfter: TimeInterval?, of volley: Int) {
        change { $0.line.answered(status, retryAfter: retryAfter, of: volley, at: $0.elapsed) }
    }

    // MARK: Parts

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    private func cancel(_ number: Int) {
        let waiter = change { state in
            state.line.cancel(number)
            return state.waiters.removeValue(forKey: number)
        }
        waiter?.resume(throwing: CancellationError())
    }

    private func endTurn() {
        change { $0.line.ended() }
    }

    /// The timer is due, whatever the wall clock says: a clock that was set back does not make it fire again and again.
    private func timePassed(until due: TimeInterval) {
        change { state in
            state.elapsed = max(state.elapsed, due)
            if state.due == due { state.due = .infinity }
        }
    }

    /// Changes the line, and does outside of the lock what the line says then.
    private func change<Result: Sendable>(_ input: (inout State) -> Result) -> Result {
        let (result, ends, timer) = state.withLock { [clock] state in
            // Read in here: times that enter in another order than they were read in would count twice.
            state.advance(to: clock.now)
            let result = input(&state)
            let ends = state.line.next(at: state.elapsed).compactMap { step in state.end(of: step) }
            var timer: (due: TimeInterval, delay: TimeInterval)?
            if let due = state.line.nextLook(at: state.elapsed), due < state.due {
                state.due = due
                timer = (due, max(0, due - state.elapsed))
            }
            return (result, ends, timer)
        }
        for (waiter, error) in ends {
            if let error { waiter.resume(throwing: error) } else { waiter.resume(returning: Turn(self)) }
        }
        if let (due, delay) = timer {
            _ = clock.schedule(after: delay) { [weak self] in self?.timePassed(until: due) }
        }
        return result
    }
}
