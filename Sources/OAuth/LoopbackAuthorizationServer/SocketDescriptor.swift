import Foundation

/// A file descriptor of this process, and the few system calls that the server makes on it.
///
/// This type and its extensions in this folder hold all of the package's pointer code for sockets.
/// It does not close itself: the code that takes a descriptor out of a call closes it, once.
struct SocketDescriptor: Hashable, Sendable {
    let number: Int32

    /// Takes the result of a call that answers with a descriptor, or with -1 and an `errno`.
    init(_ number: Int32, from call: String) throws(SocketError) {
        guard number >= 0 else { throw SocketError(call: call, code: errno) }
        self.number = number
        // A child process would keep port and connections open after this process has closed them.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    func close() {
        closeDescriptor(number)
    }

    /// Wakes a thread that waits in ``receive(upTo:)``, and leaves an answer the time to be sent.
    func endReceiving() {
        _ = shutdown(number, Int32(SHUT_RD))
    }

    /// Tells the peer that all has been sent.
    func endSending() {
        _ = shutdown(number, Int32(SHUT_WR))
    }

    /// - Parameter value: of the very type that the option has in C.
    @discardableResult
    func setOption<Value: BitwiseCopyable>(_ option: Int32, to value: Value) -> Bool {
        var value = value
        return unsafe setsockopt(number, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0
    }

    /// Lets no read and no write wait for longer than this.
    func limitWaiting(seconds: Int) {
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] { setOption(option, to: timeval(tv_sec: seconds, tv_usec: 0)) }
    }

    /// A TCP socket that is neither bound nor connected.
    static func stream() throws(SocketError) -> SocketDescriptor {
        #if canImport(Glibc)
        // A child may be started before the next call.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        return try SocketDescriptor(socket(AF_INET, type, 0), from: "socket")
    }

    /// Calls `body` with the address of a port of 127.0.0.1, and with its size.
    static func withLoopbackAddress(
        _ port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Listens on 127.0.0.1, and says on which port; port 0 lets the system choose one that is free.
    static func listening(onPort port: UInt16) throws(SocketError) -> (SocketDescriptor, port: UInt16) {
        let descriptor = try stream()
        // A port that was in use a moment ago keeps closed connections for a minute; a port that is
        // in use now is refused all the same.
        descriptor.setOption(SO_REUSEADDR, to: Int32(1))
        do throws(SocketError) {
            guard unsafe withLoopbackAddress(port, { unsafe bind(descriptor.number, $0, $1) }) == 0 else {
                throw SocketError(call: "bind", code: errno)
            }
            guard listen(descriptor.number, SOMAXCONN) == 0 else {
                throw SocketError(call: "listen", code: errno)
            }
            return (descriptor, try descriptor.boundPort())
        } catch {
            descriptor.close()
            throw error
        }
    }

    /// A connection to a port of 127.0.0.1, as a client has it.
    static func connected(toPort port: UInt16) throws(SocketError) -> SocketDescriptor {
        let descriptor = try stream()
        let status = unsafe withLoopbackAddress(port) { unsafe connect(descriptor.number, $0, $1) }
        guard status == 0 else {
            let code = errno
            descriptor.close()
            throw SocketError(call: "connect", code: code)
        }
        return descriptor
    }

    private func boundPort() throws(SocketError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getsockname(number, pointer, &size)
            }
        }
        guard status == 0 else { throw SocketError(call: "getsockname", code: errno) }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next connection, or `nil` if the peer is gone again or the process has no descriptor left.
    func nextConnection() -> SocketDescriptor? {
        try? SocketDescriptor(accept(number, nil, nil), from: "accept")
    }

    /// The next bytes; none at the end of the stream, after an error, or when the limit has passed.
    func receive(upTo count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            var received: Int
            repeat {
                received = unsafe recv(number, buffer.baseAddress, count, 0)
            } while received < 0 && errno == EINTR
            used = max(0, received)
        }
    }

    /// Sends all of the bytes, or as many as the peer takes; says whether it took all.
    ///
    /// A peer that is gone must not end the process: no signal is raised.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        // Darwin refuses options of a socket that its peer has reset; to send without this one would raise the signal.
        guard setOption(SO_NOSIGPIPE, to: Int32(1)) else { return false }
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let sent = unsafe sendBytes(number, part.baseAddress, part.count, flags)
                if sent > 0 {
                    unsafe rest = unsafe rest.dropFirst(sent)
                } else if sent == 0 || errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}

// Inside of the type the names of its methods hide those of the system calls.

private func closeDescriptor(_ number: Int32) { _ = close(number) }

private func sendBytes(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(number, bytes, count, flags)
}

/// The system refused a socket that the server cannot do without.
public struct SocketError: Error, Hashable, CustomStringConvertible {
    /// The system call that was refused.
    public let call: String
    /// The value of `errno` after the call.
    public let code: Int32

    /// The call, and the number of the error.
    public var description: String {
        "\(call) failed with errno \(code)"
    }
}
