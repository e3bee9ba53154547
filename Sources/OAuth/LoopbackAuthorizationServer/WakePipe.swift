import Foundation

/// Wakes the one thread that waits for connections, on every platform alike.
///
/// Shutting a listening socket down wakes its thread on Linux only, and closing it from another
/// thread could close whatever was given the same number in the meantime.
struct WakePipe: Sendable {
    private let reading: SocketDescriptor
    private let writing: SocketDescriptor

    init() throws(SocketError) {
        var numbers: [Int32] = [-1, -1]
        guard unsafe pipe(&numbers) == 0 else { throw SocketError(call: "pipe", code: errno) }
        reading = try SocketDescriptor(numbers[0], from: "pipe")
        writing = try SocketDescriptor(numbers[1], from: "pipe")
    }

    func wake() {
        var byte: UInt8 = 1
        _ = unsafe write(writing.number, &byte, 1)
    }

    /// Waits until there is a connection to accept (`true`) or ``wake()`` was called (`false`).
    func waitForConnection(on listener: SocketDescriptor) -> Bool {
        var polled = [
            pollfd(fd: reading.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = unsafe poll(&polled, nfds_t(polled.count), -1)
            if ready > 0 { return polled[0].revents == 0 }
            if ready < 0 && errno != EINTR { return false }
        }
    }

    func close() {
        reading.close()
        writing.close()
    }
}
