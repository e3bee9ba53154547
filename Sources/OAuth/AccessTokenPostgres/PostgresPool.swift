#if Postgres
import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization
import AccessTokenOAuth
import Dispatch
import Foundation

/// A few connections for many accounts: each is taken for a statement or two, and never while a body runs.
///
/// Connections are opened when they are needed first, and closed when none was needed for a while. Those who wait for
/// one hold no thread, and are served in the order in which they came.
final class PostgresPool: Sendable {
    private typealias Waiters = TimedWaiters<State, Result<PostgresConnection, any Error>>

    private struct State {
        /// The one that was used last is at the end, and is taken first.
        var idle: [PostgresConnection]
        var uses = 0
        var isRestPlanned = false
    }

    /// Seconds without a statement after which the connections are closed.
    static let restLimit: TimeInterval = 10
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
        queue = Waiters(State(idle: connections.reversed()))
    }

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
        let connection = try await queue.outcome(
            atMost: limit.map { max(0, $0) },
            by: clock,
            timedOut: .failure(CredentialStoreError.busy),
            cancelled: limit == nil ? nil : .failure(CancellationError())
        ) { state in
            state.uses += 1
            return state.idle.popLast().map { .success($0) }
        }.get()
        defer { giveBack(connection) }
        for _ in 1..<Self.attempts {
            do throws(PostgresFailure) {
                return try await perform(statements, by: connection)
            } catch {
                guard error.isConnectionLost else { throw error }
            }
        }
        return try await perform(statements, by: connection)
    }

    private func perform<Value: Sendable>(
        _ statements: @Sendable (isolated PostgresConnection) throws(PostgresFailure) -> Value,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Value {
        if !connection.isOpen { try connection.open() }
        return try statements(connection)
    }

    private func giveBack(_ connection: PostgresConnection, isUsed: Bool = true) {
        let (next, isRestNext) = queue.withLock { state, waiters -> (Waiters.Waiter?, Bool) in
            if !waiters.isEmpty { return (waiters.removeFirst(), false) }
            state.idle.append(connection)
            let isRestNext = isUsed && state.idle.count == size && !state.isRestPlanned
            if isRestNext { state.isRestPlanned = true }
            return (nil, isRestNext)
        }
        next?.end(with: .success(connection))
        if isRestNext { planRest() }
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
            guard state.idle.count == size else {
                // Whoever gives the last one back plans the next rest.
                state.isRestPlanned = false
                return .none
            }
            guard state.uses == uses else { return .lookAgain }
            state.isRestPlanned = false
            // Nobody takes one while it is being closed.
            defer { state.idle = [] }
            return .close(state.idle)
        }
    }

    private func close(_ connections: [PostgresConnection]) async {
        for connection in connections { await connection.close() }
        await onRest()
        for connection in connections { giveBack(connection, isUsed: false) }
    }
}
#endif
