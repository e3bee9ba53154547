#if Postgres
import AccessTokenAsync
import AccessTokenSynchronization
import AccessTokenOAuth
import Dispatch
import Foundation

/// Tells other processes that this one lives: an advisory lock with a number of its own, on a connection of its own.
///
/// The server ends the lock with the connection, and the system ends the connection with the process. A process that is
/// stopped keeps both, as it keeps the lock of a file. A machine that vanishes loses them after a minute.
///
/// **Concurrency** Bodies begin and end on any thread. While one is inside, the connection is looked at each second.
final class PostgresPresence: Sendable {
    private struct State {
        var bodies = 0
        var isLocked = false
        var lastSeen: Stopwatch?
        var pulse: Task<Void, Never>?
    }

    /// Seconds between two looks at the connection.
    static let pulse: TimeInterval = 1
    /// A look of another process takes the lock for a moment, and may be in the way.
    private static let attempts = 20

    let number = Int64.random(in: 1 ... .max)
    private let connection: PostgresConnection
    private let clock: any AccessTokenClock
    private let state = Locked(State())

    init(on server: PostgresServer, clock: any AccessTokenClock) {
        let queue = DispatchQueue(label: "PostgresCredentialStores presence")
        connection = PostgresConnection(to: server, on: DispatchQueueExecutor(queue: queue))
        self.clock = clock
    }

    deinit { state.withLock { $0.pulse }?.cancel() }

    /// A body is going to be inside: from here on, the process is seen to live.
    func begin() async throws(PostgresFailure) {
        state.withLock { state in
            state.bodies += 1
            if state.bodies == 1 { state.pulse = startPulse() }
        }
        guard state.withLock({ !$0.isLocked || ($0.lastSeen?.seconds ?? .infinity) > Self.pulse }) else { return }
        do {
            try await look(by: connection)
        } catch {
            end()
            throw error
        }
    }

    /// A body is outside again.
    func end() {
        let pulse = state.withLock { state in
            state.bodies -= 1
            return state.bodies == 0 ? state.pulse.take() : nil
        }
        pulse?.cancel()
    }

    /// Closes the connection if no body is inside.
    func rest() async { await close(connection) }

    private func startPulse() -> Task<Void, Never> {
        Task { [clock, weak self] in
            while (try? await clock.pause(for: Self.pulse)) != nil {
                guard let self else { return }
                _ = try? await look(by: connection)
            }
        }
    }

    // MARK: On the connection's queue

    private func look(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            guard connection.isOpen, state.withLock({ $0.isLocked }) else { return try lock(by: connection) }
            try connection.run("SELECT 1")
        } catch {
            guard error.isConnectionLost else { throw error }
            try lock(by: connection)
        }
        state.withLock { $0.lastSeen = Stopwatch() }
    }

    private func lock(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        if !connection.isOpen {
            state.withLock { $0.isLocked = false }
            try connection.open()
        }
        let number = Data("\(number)".utf8)
        for _ in 0..<Self.attempts {
            let reply = try connection.run("SELECT pg_try_advisory_lock($1::text::bigint)::text", [number])
            guard reply.rows.first?.first == Data("true".utf8) else { continue }
            return state.withLock { ($0.isLocked, $0.lastSeen) = (true, Stopwatch()) }
        }
        // The former connection has not ended yet at the server, and keeps the lock; the next look tries again.
    }

    private func close(_ connection: isolated PostgresConnection) {
        let isAtRest = state.withLock { state in
            if state.bodies == 0 { state.isLocked = false }
            return state.bodies == 0
        }
        if isAtRest { connection.close() }
    }
}
#endif
