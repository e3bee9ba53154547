#if Postgres
import AccessTokenAsync
import AccessTokenOAuth
import AccessTokenSynchronization
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
        /// The number of the server's process that has the lock.
        var backend: Data?
        var pulse: Task<Void, Never>?
        /// Who wants to know whose session ends.
        var listeners: [Int: Listener] = [:]
        var listenersSoFar = 0
        /// Whether the connection is told whose session ends.
        var isListening = false
        /// How many connections were told so far.
        var listenings = 0
        /// Whether sessions may have ended before the present connection was told.
        var hasMissed = false
        /// When it was asked last which ones; `nil` if not since that connection is told.
        var lastAsked: Stopwatch?
        var isAsking = false
        /// Seconds until it is asked again.
        var askPause: TimeInterval = 0
        /// When somebody wanted to know it first.
        var wanted: Stopwatch?
        /// Until when nothing was missed, by the clock of the database: that of this machine may sleep with it.
        var heard: TimeInterval?
        /// The same by the clock of this machine: that of a new primary may be behind.
        var heardHere: Stopwatch?
        /// Whether a connection of the pool is being closed, so that this one can be opened.
        var isMakingRoom = false
    }

    private struct Listener: Sendable {
        let ask: AskEnded
        let tell: @Sendable (String) -> Void
    }

    typealias MakeRoom = @Sendable () async -> Bool
    /// Asks, on another connection, whose session has ended since a time of the database.
    typealias AskEnded = @Sendable (TimeInterval) async throws -> [String]

    /// Seconds between two looks at the connection.
    static let pulse: TimeInterval = 1
    /// Seconds that a look takes at most: after that, the server has vanished.
    static let deadline: TimeInterval = 2
    /// Seconds until it is asked again what was missed, twice as many each time: a large table takes long to read.
    static let askPauses: (first: TimeInterval, longest: TimeInterval) = (10, 600)
    /// Seconds that a removal may take until others see it, and that a new primary's clock may be behind.
    private static let margin: TimeInterval = 300
    /// A look of another process takes the lock for a moment, and may be in the way.
    private static let attempts = 20

    let number: ProcessNumber
    private let table: CredentialTable
    private let connection: PostgresConnection
    private let clock: any AccessTokenClock
    private let state = Locked(State())

    init(_ number: ProcessNumber, in table: CredentialTable, on server: PostgresServer, clock: any AccessTokenClock) {
        (self.number, self.table) = (number, table)
        let queue = DispatchQueue(label: "PostgresCredentialStores presence")
        let executor = DispatchQueueExecutor(queue: queue)
        connection = PostgresConnection(to: server, on: executor, deadline: Self.deadline)
        self.clock = clock
    }

    deinit { state.withLock { $0.pulse }?.cancel() }

    /// A body is going to be inside: from here on, the process is seen to live.
    ///
    /// - Parameter makeRoom: called where the server allows no further connection; `true` if there is room for one now.
    func begin(_ makeRoom: @escaping MakeRoom) async throws(PostgresFailure) {
        stay(makeRoom)
        guard state.withLock({ !$0.isLocked || ($0.lastSeen?.seconds ?? .infinity) > Self.pulse }) else { return }
        do {
            try await look(makeRoom)
        } catch {
            end()
            throw error
        }
    }

    private func stay(_ makeRoom: @escaping MakeRoom) {
        state.withLock { state in
            state.bodies += 1
            if state.bodies == 1 { state.pulse = startPulse(makeRoom) }
        }
    }

    /// Tells whose session has ended, at each look, until ``stopListening(_:)`` is called with the number returned.
    func listen(
        _ makeRoom: @escaping MakeRoom,
        asking ask: @escaping AskEnded,
        _ tell: @escaping @Sendable (String) -> Void
    ) -> Int {
        // The connection stays as it does for a body.
        stay(makeRoom)
        return state.withLock { state in
            state.listenersSoFar += 1
            // What ends before the first look was missed, too.
            state.wanted = state.wanted ?? Stopwatch()
            state.listeners[state.listenersSoFar] = Listener(ask: ask, tell: tell)
            return state.listenersSoFar
        }
    }

    func stopListening(_ number: Int) {
        guard state.withLock({ $0.listeners.removeValue(forKey: number) }) != nil else { return }
        end()
    }

    /// A body is outside again.
    func end() {
        let pulse = state.withLock { state in
            state.bodies -= 1
            return state.bodies == 0 ? state.pulse.take() : nil
        }
        pulse?.cancel()
    }

    /// Fails if a statement of the pool was carried out by the very process of the server that has the lock.
    ///
    /// Two connections that are open have two processes of the server, unless a pooler shares them out by transaction.
    /// Then the lock belongs to nobody.
    func check(_ backend: Data?, _ makeRoom: MakeRoom) async throws(PostgresFailure) {
        guard isShared(backend) else { return }
        // The connection may have ended, and its process of the server be another client's.
        try await look(makeRoom)
        if isShared(backend) { throw .pooler }
    }

    private func isShared(_ backend: Data?) -> Bool { state.withLock { $0.isLocked && $0.backend == backend } }

    /// Closes the connection if no body is inside.
    func rest() async { await close(connection) }

    private func startPulse(_ makeRoom: @escaping MakeRoom) -> Task<Void, Never> {
        Task { [clock, weak self] in
            while (try? await clock.pause(for: Self.pulse)) != nil {
                guard let self else { return }
                _ = try? await look(makeRoom)
                askForMissed()
            }
        }
    }

    /// Asks whose session ended before the connection was told, until there is an answer.
    ///
    /// The table may be large: neither the looks nor a body wait for the answer.
    private func askForMissed() {
        let question = state.withLock { state -> (AskEnded, since: TimeInterval, listenings: Int)? in
            guard state.hasMissed, !state.isAsking, (state.lastAsked?.seconds ?? .infinity) > state.askPause,
                let listener = state.listeners.values.first, let heard = state.heard
            else { return nil }
            state.askPause = min(max(Self.askPauses.first, 2 * state.askPause), Self.askPauses.longest)
            (state.lastAsked, state.isAsking) = (Stopwatch(), true)
            return (listener.ask, heard - Self.margin, state.listenings)
        }
        guard let (ask, since, listenings) = question else { return }
        Task { [weak self] in
            let names = try? await ask(since)
            guard let self else { return }
            state.withLock { state in
                state.isAsking = false
                // Another connection since then has missed more.
                if names != nil, state.listenings == listenings { state.hasMissed = false }
            }
            tell(names ?? [])
        }
    }

    private func tell(_ names: [String]) {
        let listeners = state.withLock { $0.listeners.values.map(\.self) }
        for name in names { for listener in listeners { listener.tell(name) } }
    }

    private func look(_ makeRoom: MakeRoom) async throws(PostgresFailure) {
        do throws(PostgresFailure) {
            try await look(by: connection)
        } catch {
            guard error.isOpening else { throw error }
            // One connection less is enough for all who begin at once; the others wait for its place as well.
            let isFirst = state.withLock { state in
                defer { state.isMakingRoom = true }
                return !state.isMakingRoom
            }
            defer { if isFirst { state.withLock { $0.isMakingRoom = false } } }
            if isFirst { guard await makeRoom() else { throw error } }
            try await lookSoon()
        }
    }

    /// Looks again and again: the server frees the place of a connection a moment after that has ended.
    private func lookSoon() async throws(PostgresFailure) {
        for _ in 1..<Self.attempts {
            do throws(PostgresFailure) {
                return try await look(by: connection)
            } catch {
                guard error.isOpening else { throw error }
            }
            try? await clock.pause(for: 0.05)
        }
        try await look(by: connection)
    }

    // MARK: On the connection's queue

    private func look(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            guard connection.isOpen, state.withLock({ $0.isLocked }) else { return try lock(by: connection) }
            let backend = try connection.run("SELECT pg_backend_pid()::text").rows.first?.first ?? nil
            guard backend == state.withLock({ $0.backend }) else {
                // The lock is where this connection is no more. A server frees it with the process of its own.
                state.withLock { $0.isLocked = false }
                connection.close()
                throw .pooler
            }
        } catch {
            guard error.isConnectionLost, !error.isOpening else { throw error }
            try lock(by: connection)
        }
        state.withLock { $0.lastSeen = Stopwatch() }
        try hear(by: connection)
    }

    /// Tells listeners whose session has ended, by what was notified; a new connection has missed what came before.
    private func hear(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        let (isWanted, isListening) = state.withLock { state in
            // The next one who listens asks for what is thrown away here.
            if state.listeners.isEmpty { state.isListening = false }
            return (!state.listeners.isEmpty, state.isListening)
        }
        guard isWanted else {
            // The connection would keep them for as long as a body is inside.
            _ = connection.takeNotifications()
            return
        }
        if !isListening {
            try table.listen(by: connection)
            state.withLock { state in
                (state.isListening, state.hasMissed, state.lastAsked, state.askPause) = (true, true, nil, 0)
                state.listenings += 1
            }
        }
        let now = try table.now(by: connection)
        let heard = state.withLock { state in
            let heard = state.heard ?? now - (state.wanted?.seconds ?? 0)
            guard state.hasMissed else {
                (state.heard, state.heardHere) = (now, Stopwatch())
                return heard
            }
            let earliest = min(heard, now - (state.heardHere?.seconds ?? 0))
            state.heard = earliest
            return earliest
        }
        let notified = connection.takeNotifications()
        // One name too many costs a renewal, and one that is missing a session that does not end here.
        let names = (try? table.ours(among: notified, since: heard - Self.margin, by: connection)) ?? notified
        tell(names)
    }

    private func lock(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        if !connection.isOpen {
            state.withLock { ($0.isLocked, $0.isListening) = (false, false) }
            try connection.open()
        }
        for _ in 0..<Self.attempts {
            let statement = "SELECT pg_try_advisory_lock($1::text::bigint)::text, pg_backend_pid()::text"
            let reply = try connection.run(statement, [number.parameter])
            guard let row = reply.rows.first, row.first == Data("true".utf8) else { continue }
            return state.withLock { ($0.isLocked, $0.lastSeen, $0.backend) = (true, Stopwatch(), row.last ?? nil) }
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
