#if Postgres
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import Testing

/// Between a process and PostgreSQL, in sockets of a folder: it cuts, swallows, holds back and refuses.
///
/// Each connection has two threads, which read and write without a buffer of their own.
final class DatabaseProxy: Sendable {
    /// What becomes of bytes.
    enum Verdict: Sendable {
        case pass, swallow, cut
    }

    private final class Connection: Sendable {
        let client: Int32
        let database: Int32
        /// The ends are closed when both threads have ended.
        let state = Locked((isSilent: false, threads: 2))

        init(_ client: Int32, _ database: Int32) { (self.client, self.database) = (client, database) }

        func cut() {
            state.withLock { state in
                // Their numbers may be those of others by now.
                guard state.threads > 0 else { return }
                for end in [client, database] { shutdown(end, Int32(SHUT_RDWR)) }
            }
        }

        func fallSilent() {
            state.withLock { state in
                guard state.threads > 0 else { return }
                state.isSilent = true
                shutdown(database, Int32(SHUT_RDWR))
            }
        }

        func ended() {
            state.withLock { state in
                state.threads -= 1
                if state.threads == 0 { for end in [client, database] { close(end) } }
            }
        }
    }

    private struct State {
        var connections: [Connection] = []
        /// Seconds after which a new connection is refused; `nil` accepts it.
        var refusal: TimeInterval?
        var accepted = 0
        var refused = 0
        var ofClient: @Sendable (Data) -> Verdict = { _ in .pass }
        var ofDatabase: @Sendable (Data) -> Verdict = { _ in .pass }
    }

    private let folder: String
    private let target: String
    private let listener: Int32
    private let state = Locked(State())

    /// A proxy of the server that the tests use.
    static func toServer() throws -> DatabaseProxy {
        let connection = try #require(TestDatabase.connection)
        let host = try #require(connection.split(separator: " ").first { $0.hasPrefix("host=/") })
        return try DatabaseProxy(to: String(host.dropFirst("host=".count)))
    }

    /// - Parameter target: the folder with PostgreSQL's own socket.
    init(to target: String) throws {
        self.target = target
        folder = FileManager.default.temporaryDirectory.appending(path: "x\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = try Self.socket()
        guard unsafe Self.with(folder, { unsafe bind(listener, $0, $1) }) == 0, listen(listener, 512) == 0 else {
            throw POSIXError(.EADDRINUSE)
        }
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends all connections; the proxy is of no use then.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cut()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A connection string that leads here, of one that leads to PostgreSQL.
    func connectionString(_ direct: String) -> String { "\(direct) host=\(folder)" }

    /// How many connections were made so far.
    var accepted: Int { state.withLock { $0.accepted } }

    /// How many connections were refused so far.
    var refused: Int { state.withLock { $0.refused } }

    /// Whether new connections are refused, each so many seconds after the one before.
    func refuse(_ refuses: Bool, after seconds: TimeInterval = 0) {
        state.withLock { $0.refusal = refuses ? seconds : nil }
    }

    /// Decides what becomes of what clients send, and of what the database sends.
    func onClient(_ decide: @escaping @Sendable (Data) -> Verdict) { state.withLock { $0.ofClient = decide } }
    func onDatabase(_ decide: @escaping @Sendable (Data) -> Verdict) { state.withLock { $0.ofDatabase = decide } }

    /// Ends all connections on both sides.
    func cut() {
        for connection in take() { connection.cut() }
    }

    /// The database forgets all connections, and their clients hear nothing of it.
    func fallSilent() {
        for connection in take() { connection.fallSilent() }
    }

    private func take() -> [Connection] {
        state.withLock { state in
            defer { state.connections = [] }
            return state.connections
        }
    }

    // MARK: On threads of its own

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            guard client >= 0 else { return }
            if let seconds = state.withLock({ $0.refusal }) {
                Thread.sleep(forTimeInterval: seconds)
                state.withLock { $0.refused += 1 }
                close(client)
                continue
            }
            guard let database = try? Self.socket() else {
                close(client)
                continue
            }
            guard unsafe Self.with(target, { unsafe connect(database, $0, $1) }) == 0 else {
                close(client)
                close(database)
                continue
            }
            let connection = Connection(client, database)
            state.withLock { state in
                state.accepted += 1
                state.connections.append(connection)
            }
            Thread.detachNewThread { [self] in
                pump(connection, from: client, to: database) { data in state.withLock { $0.ofClient }(data) }
            }
            Thread.detachNewThread { [self] in
                pump(connection, from: database, to: client) { data in state.withLock { $0.ofDatabase }(data) }
            }
        }
    }

    private func pump(_ connection: Connection, from source: Int32, to target: Int32, _ decide: (Data) -> Verdict) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(source, &buffer, buffer.count)
            let isSilent = connection.state.withLock { $0.isSilent }
            guard count > 0 else {
                // What is silent on one side stays open on the other, until the client gives up.
                if !isSilent || source == connection.client { connection.cut() }
                break
            }
            if isSilent { continue }
            switch decide(Data(buffer[..<count])) {
            case .pass:
                if unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) < 0 {
                    // The other thread ends it.
                    shutdown(source, Int32(SHUT_RDWR))
                }
            case .swallow: continue
            case .cut: connection.cut()
            }
        }
        connection.ended()
    }

    private static func socket() throws -> Int32 {
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        return descriptor
    }

    private static func with<Result>(
        _ folder: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: Array("\(folder)/.s.PGSQL.5432".utf8).prefix(path.count - 1))
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
