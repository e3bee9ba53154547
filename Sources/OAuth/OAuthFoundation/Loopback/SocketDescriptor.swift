import Foundation

/// An address of this machine that no other machine reaches.
package enum LoopbackAddress: Sendable {
    /// 127.0.0.1
    case version4
    /// ::1
    case version6

    var family: Int32 { self == .version4 ? AF_INET : AF_INET6 }
}

/// A file descriptor of this process, and the few system calls that the server makes on it.
///
/// This type and its extensions in this folder hold all of the package's pointer code for sockets.
/// It does not close itself: the code that takes a descriptor out of a call closes it, once.
package struct SocketDescriptor: Hashable, Sendable {
    let number: Int32

    /// Takes the result of a call that answers with a descriptor, or with -1 and an `errno`.
    init(_ number: Int32, from call: String) throws(SocketFailure) {
        guard number >= 0 else { throw SocketFailure(call: call, code: errno) }
        self.number = number
        // A child process would keep port and connections open after this process has closed them.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    package func close() {
        closeDescriptor(number)
    }

    /// Wakes a thread that waits in ``receive(upTo:)``, and leaves an answer the time to be sent.
    package func endReceiving() {
        _ = shutdown(number, Int32(SHUT_RD))
    }

    /// Tells the peer that all has been sent.
    package func endSending() {
        _ = shutdown(number, Int32(SHUT_WR))
    }

    /// - Parameter value: of the very type that the option has in C.
    @discardableResult
    package func setOption<Value: BitwiseCopyable>(_ option: Int32, to value: Value) -> Bool {
        var value = value
        return unsafe setsockopt(number, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0
    }

    /// Lets no read and no write wait for longer than this.
    func limitWaiting(seconds: Int) {
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] { setOption(option, to: timeval(tv_sec: seconds, tv_usec: 0)) }
    }

    /// A TCP socket that is neither bound nor connected.
    static func stream(_ address: LoopbackAddress) throws(SocketFailure) -> SocketDescriptor {
        #if canImport(Glibc)
        // A child may be started before the next call.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        return try SocketDescriptor(socket(address.family, type, 0), from: "socket")
    }

    /// Calls `body` with a port of a loopback address, and with the size of that.
    static func withSocketAddress(
        _ address: LoopbackAddress,
        _ port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        switch address {
        case .version4:
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_port = port.bigEndian
            own.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            return unsafe withGeneralAddress(&own, body)
        case .version6:
            var own = sockaddr_in6()
            own.sin6_family = sa_family_t(AF_INET6)
            own.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &own.sin6_addr) { bytes in unsafe bytes[15] = 1 }
            return unsafe withGeneralAddress(&own, body)
        }
    }

    private static func withGeneralAddress<Address>(
        _ address: inout Address,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Listens, and says on which port; port 0 lets the system choose one that is free.
    static func listening(
        on address: LoopbackAddress,
        port: UInt16
    ) throws(SocketFailure) -> (SocketDescriptor, port: UInt16) {
        let descriptor = try stream(address)
        // A port that was in use a moment ago keeps closed connections for a minute; a port that is
        // in use now is refused all the same.
        descriptor.setOption(SO_REUSEADDR, to: Int32(1))
        do throws(SocketFailure) {
            guard unsafe withSocketAddress(address, port, { unsafe bind(descriptor.number, $0, $1) }) == 0 else {
                throw SocketFailure(call: "bind", code: errno)
            }
            guard listen(descriptor.number, SOMAXCONN) == 0 else {
                throw SocketFailure(call: "listen", code: errno)
            }
            return (descriptor, try descriptor.boundPort())
        } catch {
            descriptor.close()
            throw error
        }
    }

    /// A connection to a port of this machine, as a client has it.
    package static func connected(
        to address: LoopbackAddress = .version4,
        toPort port: UInt16
    ) throws(SocketFailure) -> SocketDescriptor {
        let descriptor = try stream(address)
        let status = unsafe withSocketAddress(address, port) { unsafe connect(descriptor.number, $0, $1) }
        guard status == 0 else {
            let code = errno
            descriptor.close()
            throw SocketFailure(call: "connect", code: code)
        }
        return descriptor
    }

    private func boundPort() throws(SocketFailure) -> UInt16 {
        // The port is at the same place in an address of either version.
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getsockname(number, pointer, &size)
            }
        }
        guard status == 0 else { throw SocketFailure(call: "getsockname", code: errno) }
        return UInt16(bigEndian: address.sin6_port)
    }

    /// The next connection, or `nil` if the peer is gone again or the process has no descriptor left.
    func nextConnection() -> SocketDescriptor? {
        try? SocketDescriptor(accept(number, nil, nil), from: "accept")
    }

    /// The next bytes; none at the end of the stream, after an error, or when the limit has passed.
    package func receive(upTo count: Int) -> [UInt8] {
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
    package func send(_ bytes: [UInt8]) -> Bool {
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

/// The system refused a socket.
package struct SocketFailure: Error, Hashable {
    /// The system call that was refused.
    package let call: String
    /// The value of `errno` after the call.
    package let code: Int32

    /// Whether another socket has the port.
    package var isPortTaken: Bool { code == EADDRINUSE }

    /// Whether the process has no right to the port, as to one below 1024.
    package var isForbidden: Bool { code == EACCES }

    /// Whether this machine does not have the address, as without IPv6.
    package var isAddressMissing: Bool { [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT].contains(code) }

    /// Whether the process, or the system, has no file descriptor left.
    package var isOutOfDescriptors: Bool { [EMFILE, ENFILE].contains(code) }
}
