#if Postgres
import AccessTokenAsync
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Dispatch
import Foundation

/// A few connections for many accounts: each is taken for a statement or two, and never while a body runs.
///
/// Connections are opened when they are needed first, and closed when none was needed for a while. Those who wait for
/// one hold no thread, and are served in the order in which they came. A connection that is open is taken before one
/// that is not: a server may allow fewer than the pool has.
final class PostgresPool: Sendable {
    private typealias Waiters = TimedWaiters<State, Result<PostgresConnection, any Error>>

    private struct State {
        /// Open, and at rest; the one that was used last is at the end, and is taken first.
        var open: [PostgresConnection] = []
        /// Not open, and at rest.
        var closed: [PostgresConnection]
        /// How many are open, at rest or not.
        var opened = 0
        /// How many are being opened.
        var opening = 0
        /// Whether the last opening that failed was refused, and did not wait for an answer in vain.
        var isRefusing = false
        /// How many openings have failed since the last one that succeeded.
        var refused = 0
        var lastRefusal: Stopwatch?
        /// How many statements have failed with their connection: each may be carried out later.
        var losses = 0
        /// Connections that were opened before a server fell silent are not trusted.
        var silences = 0
        var uses = 0
        var isRestPlanned = false

        /// How many are open, or may be soon: of those that a server refuses, it may allow another one.
        ///
        /// Nobody waits for the opening of another one at a server that is silent.
        var expected: Int { opened + (isRefusing ? opening : 0) }

        /// Whether one may be opened; where others are open, one that was refused has time.
        var mayOpen: Bool { expected == 0 || (lastRefusal?.seconds ?? .infinity) > PostgresPool.refusalPause }
    }

    /// Seconds without a statement after which the connections are closed.
    static let restLimit: TimeInterval = 10
    /// Seconds after a refusal in which no further connection is opened, unless there is no other.
    static let refusalPause: TimeInterval = 10
    /// Seconds that a connection is waited for which is to be closed.
    private static let roomLimit: TimeInterval = 2
    /// Attempts for a statement whose connection breaks: one that was idle may have been closed by the server.
    private static let attempts = 2

    private let size: Int
    private let clock: any AccessTokenClock
    private let queue: Waiters
    private let onRest: @Sendable () async -> Void

    /// - Parameter onRest: called when no statement was run for a while.
    init(
        _ server: PostgresServer,
        size: Int,
        clock: any AccessTokenClock,
        onRest: @escaping @Sendable () async -> Void
    ) {
        self.size = max(1, size)
        self.clock = clock
        self.onRest = onRest
        let connections = (1...self.size).map { number in
            let queue = DispatchQueue(label: "PostgresCredentialStores \(number)")
            return PostgresConnection(to: server, on: DispatchQueueExecutor(queue: queue))
        }
        queue = Waiters(State(closed: connections.reversed()))
    }

    /// How many statements have failed with their connection so far.
    var losses: Int { queue.withLock { state, _ in state.losses } }

    /// Runs statements on a connection.
    ///
    /// They are run once more if the connection breaks, and so must do no harm the second time.
    ///
    /// - Parameter limit: seconds to wait for a connection, and until then a cancelled task waits no longer; `nil`
    ///   waits on.
    func run<Value: Sendable>(
        within limit: TimeInterval? = nil,
        _ statements: @Sendable (isolated PostgresConnection) throws(PostgresFailure) -> Value
    ) async throws -> Value {
        let waited = Stopwatch()
        while true {
            let connection = try await take(within: limit.map { $0 - waited.seconds })
            switch await perform(statements, by: connection) {
            case .success(let value): return value
            case .failure(let failure) where failure.isOpening:
                // Whoever can wait for one that is open waits.
                let (opened, refused) = queue.withLock { state, _ in (state.expected, state.refused) }
                guard opened == 0 else { continue }
                throw failure.saying("no connection is open, and \(refused) could not be opened")
            case .failure(let failure): throw failure
            }
        }
    }

    /// Closes a connection where the server allows no further one; `false` if there is none.
    func makeRoom() async -> Bool {
        guard queue.withLock({ state, _ in state.opened > 0 }),
            let connection = try? await take(within: Self.roomLimit, mayOpen: false)
        else { return false }
        let wasOpen = await connection.isOpen
        if wasOpen {
            await connection.close()
            queue.withLock { state, _ in
                state.opened -= 1
                state.lastRefusal = Stopwatch()
            }
        }
        giveBack(connection, isOpen: false)
        return wasOpen
    }

    private func take(within limit: TimeInterval?, mayOpen: Bool = true) async throws -> PostgresConnection {
        let outcome = await queue.outcome(
            atMost: limit.map { max(0, $0) },
            by: clock,
            timedOut: .failure(PostgresFailure(words: "")),
            cancelled: limit == nil ? nil : .failure(CancellationError())
        ) { state in
            state.uses += 1
            if let connection = state.open.popLast() { return .success(connection) }
            guard mayOpen, state.mayOpen else { return nil }
            return state.closed.popLast().map { .success($0) }
        }
        if case .failure(let error) = outcome, error is PostgresFailure { throw noneIsFree }
        return try outcome.get()
    }

    private var noneIsFree: PostgresFailure {
        let (opened, refused) = queue.withLock { state, _ in (state.opened, state.refused) }
        let more = refused > 0 ? ", and \(refused) could not be opened" : ""
        return PostgresFailure(words: "no connection was free in time: \(opened) are open and in use\(more)")
    }

    private func giveBack(_ connection: PostgresConnection, isOpen: Bool, isUsed: Bool = true) {
        let (next, isRestNext) = queue.withLock { state, waiters -> (Waiters.Waiter?, Bool) in
            // Whoever waits for an open one is not given one that would be refused.
            if !waiters.isEmpty, isOpen || state.mayOpen { return (waiters.removeFirst(), false) }
            if isOpen { state.open.append(connection) } else { state.closed.append(connection) }
            let isAtRest = state.open.count + state.closed.count == size
            let isRestNext = isUsed && isAtRest && !state.isRestPlanned
            if isRestNext { state.isRestPlanned = true }
            return (nil, isRestNext)
        }
        next?.end(with: .success(connection))
        if isRestNext { planRest() }
    }

    // MARK: On the connection's queue

    /// Gives the connection back as well: the next one who waits need not wait for this caller to go on.
    private func perform<Value: Sendable>(
        _ statements: @Sendable (isolated PostgresConnection) throws(PostgresFailure) -> Value,
        by connection: isolated PostgresConnection
    ) -> Result<Value, PostgresFailure> {
        defer { giveBack(connection, isOpen: connection.isOpen) }
        var failure = PostgresFailure(words: "")
        for _ in 0..<Self.attempts {
            do throws(PostgresFailure) {
                try open(connection)
                return .success(try statements(connection))
            } catch {
                failure = error
                guard !error.isOpening else { break }
                guard error.isConnectionLost else { break }
                queue.withLock { state, _ in
                    state.opened -= 1
                    state.losses += 1
                    if error.isSilence { state.silences += 1 }
                }
            }
        }
        return .failure(failure)
    }

    private func open(_ connection: isolated PostgresConnection) throws(PostgresFailure) {
        let silences = queue.withLock { state, _ in state.silences }
        if connection.isOpen {
            guard connection.silences != silences else { return }
            connection.close()
            queue.withLock { state, _ in state.opened -= 1 }
        }
        let began = Stopwatch()
        queue.withLock { state, _ in state.opening += 1 }
        do throws(PostgresFailure) {
            try connection.open()
        } catch {
            queue.withLock { state, _ in
                state.opening -= 1
                state.isRefusing = began.seconds < 1
                state.refused += 1
                state.lastRefusal = Stopwatch()
            }
            throw error
        }
        connection.silences = silences
        queue.withLock { state, _ in
            state.opening -= 1
            state.opened += 1
            state.refused = 0
        }
    }

    // MARK: Rest

    private enum Rest {
        case close([PostgresConnection])
        case lookAgain
        case none
    }

    /// Closes all connections after a while, unless somebody uses one until then.
    private func planRest() {
        let uses = queue.withLock { state, _ in state.uses }
        _ = clock.schedule(after: Self.restLimit) { [weak self] in
            guard let self else { return }
            switch rest(since: uses) {
            case .close(let connections): Task { await self.close(connections) }
            case .lookAgain: planRest()
            case .none: break
            }
        }
    }

    private func rest(since uses: Int) -> Rest {
        queue.withLock { state, _ in
            guard state.open.count + state.closed.count == size else {
                // Whoever gives the last one back plans the next rest.
                state.isRestPlanned = false
                return .none
            }
            guard state.uses == uses else { return .lookAgain }
            state.isRestPlanned = false
            // Nobody takes one while it is being closed.
            defer { state.open = [] }
            state.opened -= state.open.count
            return .close(state.open)
        }
    }

    private func close(_ connections: [PostgresConnection]) async {
        for connection in connections { await connection.close() }
        await onRest()
        for connection in connections { giveBack(connection, isOpen: false, isUsed: false) }
    }
}
#endif
