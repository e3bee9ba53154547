@testable import LoopbackAuthorizationServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection that says exactly what a test says, valid HTTP or not.
struct RawConnection {
    private let descriptor: SocketDescriptor

    /// - Throws: `SocketError` if nobody listens there.
    init(toPort port: UInt16) throws(SocketError) {
        descriptor = try .connected(toPort: port)
    }

    func send(_ bytes: [UInt8]) {
        descriptor.send(bytes)
    }

    /// Says that nothing more will come, and reads until the server has closed.
    func finish() -> String {
        descriptor.endSending()
        return rest()
    }

    /// Reads until the server has closed.
    func rest() -> String {
        var bytes: [UInt8] = []
        while true {
            let more = descriptor.receive(upTo: 4096)
            guard !more.isEmpty else { break }
            bytes += more
        }
        descriptor.close()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Says that nothing more will come and then breaks the connection, so that whoever sends gets `EPIPE`.
    func reset() {
        descriptor.endSending()
        var now = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor.number,
            SOL_SOCKET,
            SO_LINGER,
            &now,
            socklen_t(MemoryLayout<linger>.size)
        )
        descriptor.close()
    }
}

extension RotatingAuthorizationServer {
    /// The whole answer, head and body, to these bytes.
    func answer(to text: String) throws -> String {
        try answer(to: Array(text.utf8))
    }

    func answer(to bytes: [UInt8]) throws -> String {
        let connection = try RawConnection(toPort: port)
        connection.send(bytes)
        return connection.finish()
    }
}
