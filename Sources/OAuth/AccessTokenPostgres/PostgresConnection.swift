#if Postgres
package import AccessTokenAsync
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import CLibpq
import Dispatch
package import Foundation

/// A connection to a server, which lasts as long as this object.
///
/// libpq blocks its thread: the actor runs on a queue of its own, and never on a thread of the pool for tasks.
package actor PostgresConnection {
    /// The pointer that libpq gives; the connection is closed with the last reference.
    @safe private final class Handle {
        let pointer: OpaquePointer
        /// Tells the statements of this connection from those of others.
        let name = UUID().uuidString
        /// The names of the statements that the server has.
        var prepared: [String: String] = [:]

        init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

        deinit { unsafe PQfinish(pointer) }
    }

    private let executor: DispatchQueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Seconds within which a server that can be reached has carried out a statement.
    package static let usualDeadline: TimeInterval = 5

    private let server: PostgresServer
    private let deadline: TimeInterval
    private var handle: Handle?

    /// - Parameter deadline: seconds after which a statement without an answer has failed, and the connection with it.
    package init(
        to server: PostgresServer,
        on executor: DispatchQueueExecutor,
        deadline: TimeInterval = PostgresConnection.usualDeadline
    ) {
        self.server = server
        self.executor = executor
        self.deadline = deadline
    }

    /// What each connection is set to, as far as the server knows it.
    ///
    /// A database may be set to acknowledge commits that can be lost, which a credential must not be. A machine that
    /// has vanished is noticed by the server after a minute. A database may be set to an isolation in which a statement
    /// that has waited for a row fails; here each statement is a transaction, and goes by the row as it is then.
    private static let settings = """
        SELECT set_config(name, value, false) FROM (VALUES
            ('lock_timeout', '2000'), ('statement_timeout', '4000'), ('idle_session_timeout', '0'),
            ('default_transaction_isolation', 'read committed'),
            ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3'),
            ('tcp_user_timeout', '60000'), ('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END)
        ) AS wanted (name, value) JOIN pg_settings USING (name)
        """

    /// How often its server had fallen silent when it was opened, as its pool counts.
    var silences = 0

    /// Whether it is connected, as far as is known.
    var isOpen: Bool { handle != nil }

    /// Disconnects, after which it can be opened again.
    func close() { handle = nil }

    /// Connects; the failure says that there is no connection.
    package func open() throws(PostgresFailure) {
        do throws(PostgresFailure) {
            if let mistake = server.mistake { throw PostgresFailure(words: mistake) }
            guard let pointer = unsafe server.connect() else { throw PostgresFailure(words: "there is no memory left") }
            let handle = unsafe Handle(pointer)
            guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw unsafe failure(of: handle, nil) }
            // libpq prints notices to the standard error output otherwise.
            unsafe _ = PQsetNoticeReceiver(pointer, { _, _ in }, nil)
            // It would write without an end to a server that does not read.
            unsafe _ = PQsetnonblocking(pointer, 1)
            self.handle = handle
            try run(Self.settings)
        } catch {
            handle = nil
            throw error.whileOpening
        }
    }

    /// Runs one statement; values are parameters, and never part of its text.
    ///
    /// **Failure** Also after the connection's deadline: then the server may carry the statement out at any later time.
    ///
    /// - Parameters:
    ///   - statement: SQL, with `$1` for the first value.
    ///   - values: texts and bytes as they are; `nil` is NULL.
    @discardableResult
    package func run(_ statement: String, _ values: [Data?] = []) throws(PostgresFailure) -> PostgresReply {
        guard let handle else { throw PostgresFailure(words: "there is no connection", isConnectionLost: true) }
        let name = values.isEmpty ? nil : try prepare(statement, on: handle)
        // All values in one buffer, which has a place also if all of them are empty.
        let bytes = values.reduce(into: Data()) { $0.append($1 ?? Data()) } + [0]
        let isSent = unsafe bytes.withUnsafeBytes { buffer in
            var start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            var places = unsafe [UnsafePointer<CChar>?]()
            for value in values {
                unsafe places.append(value == nil ? nil : start)
                unsafe start = start.map { unsafe $0 + (value?.count ?? 0) }
            }
            let (count, lengths) = (Int32(values.count), values.map { Int32($0?.count ?? 0) })
            let formats = values.map { _ in Int32(1) }
            guard let name else {
                return unsafe PQsendQueryParams(handle.pointer, statement, count, nil, places, lengths, formats, 1)
            }
            return unsafe PQsendQueryPrepared(handle.pointer, name, count, places, lengths, formats, 1)
        }
        guard isSent == 1 else { throw unsafe lose(handle, nil) }
        let reply = try unsafe success(on: handle)
        defer { unsafe PQclear(reply) }
        let rows = unsafe (0..<PQntuples(reply)).map { row in
            unsafe (0..<PQnfields(reply)).map { column -> Data? in
                guard unsafe PQgetisnull(reply, row, column) == 0 else { return nil }
                return unsafe Data(bytes: PQgetvalue(reply, row, column), count: Int(PQgetlength(reply, row, column)))
            }
        }
        return PostgresReply(rows: rows)
    }

    /// The name under which the server has a statement with its plan, which is made at the first use.
    ///
    /// The names are none that another connection has: behind a pooler, both may meet the same process of the server.
    private func prepare(_ statement: String, on handle: Handle) throws(PostgresFailure) -> String {
        if let name = handle.prepared[statement] { return name }
        let name = "\(handle.name) \(handle.prepared.count)"
        guard unsafe PQsendPrepare(handle.pointer, name, statement, 0, nil) == 1 else {
            throw unsafe lose(handle, nil)
        }
        unsafe PQclear(try success(on: handle))
        handle.prepared[statement] = name
        return name
    }

    /// The answer to what was sent, which the caller has to clear.
    private func success(on handle: Handle) throws(PostgresFailure) -> OpaquePointer? {
        let reply = try unsafe answer(on: handle)
        let status = unsafe PQresultStatus(reply)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            defer { unsafe PQclear(reply) }
            throw unsafe lose(handle, reply)
        }
        return unsafe reply
    }

    /// What other connections have notified, as far as it came with the answer to the last statement.
    func takeNotifications() -> [String] {
        guard let handle else { return [] }
        var payloads: [String] = []
        while let notification = unsafe PQnotifies(handle.pointer) {
            unsafe payloads.append(String(cString: notification.pointee.extra))
            unsafe PQfreemem(notification)
        }
        return payloads
    }

    /// The last result of the statement that was sent: it fails at the commit, after its own result, as well.
    private func answer(on handle: Handle) throws(PostgresFailure) -> OpaquePointer? {
        let watch = Stopwatch()
        var isFlushed = false
        var last: OpaquePointer?
        while true {
            while unsafe !isFlushed || PQisBusy(handle.pointer) == 1 {
                if !isFlushed { unsafe isFlushed = PQflush(handle.pointer) != 1 }
                guard unsafe !isFlushed || PQisBusy(handle.pointer) == 1 else { break }
                guard waits(on: handle, toWrite: !isFlushed, within: deadline - watch.seconds) else {
                    unsafe PQclear(last)
                    self.handle = nil
                    throw PostgresFailure(
                        words: "the server did not answer within \(deadline) seconds",
                        isConnectionLost: true,
                        isSilence: true
                    )
                }
                // What fails is in the next result.
                if unsafe PQconsumeInput(handle.pointer) == 0 { break }
            }
            guard let result = unsafe PQgetResult(handle.pointer) else { return unsafe last }
            unsafe PQclear(last)
            unsafe last = result
        }
    }

    /// Blocks until the server has sent something, or takes something; `false` if that lasts too long.
    private func waits(on handle: Handle, toWrite: Bool, within seconds: TimeInterval) -> Bool {
        let events = Int16(POLLIN) | (toWrite ? Int16(POLLOUT) : 0)
        var socket = pollfd(fd: unsafe PQsocket(handle.pointer), events: events, revents: 0)
        guard socket.fd >= 0 else { return true }
        let watch = Stopwatch()
        while true {
            // Also if no time is left: this process may have been stopped, with the answer waiting.
            let left = max(0, seconds - watch.seconds)
            let count = unsafe poll(&socket, 1, Int32((left * 1000).rounded(.up)))
            if count != 0, !(count < 0 && errno == EINTR) { return true }
            if left <= 0 { return false }
        }
    }

    private func lose(_ handle: Handle, _ reply: OpaquePointer?) -> PostgresFailure {
        let failure = unsafe failure(of: handle, reply)
        if failure.isConnectionLost { self.handle = nil }
        return failure
    }

    private func failure(of handle: Handle, _ reply: OpaquePointer?) -> PostgresFailure {
        // Not the message's details, which can repeat a row, nor the words of a trigger, which can repeat anything.
        func field(_ letter: Unicode.Scalar) -> String? {
            unsafe PQresultErrorField(reply, Int32(letter.value)).map { unsafe String(cString: $0) }
        }
        if field("C") == PostgresFailure.noSuchStatement { return .pooler }
        if let failure = PostgresFailure.unstorable(field("C")) { return failure }
        let isOfFunction = field("W") != nil
        let words =
            if isOfFunction { "a function or a trigger of the database failed" } else {
                unsafe field("M") ?? String(cString: PQerrorMessage(handle.pointer))
            }
        return PostgresFailure(
            words: server.printable(words),
            code: field("C"),
            isConnectionLost: unsafe PQstatus(handle.pointer) != CONNECTION_OK
        )
    }
}
#endif
