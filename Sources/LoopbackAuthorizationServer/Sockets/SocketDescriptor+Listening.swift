#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SocketDescriptor {
    /// Listens on 127.0.0.1; port 0 lets the system choose one that is free.
    static func listening(onPort port: UInt16) throws(SocketError) -> SocketDescriptor {
        let descriptor = try stream()
        // A port that was in use a moment ago keeps closed connections for a minute; a port that is
        // in use now is refused all the same.
        descriptor.setOption(SO_REUSEADDR, to: 1)
        do throws(SocketError) {
            try descriptor.bind(toPort: port)
            guard listen(descriptor.number, SOMAXCONN) == 0 else {
                throw SocketError(call: "listen", code: errno)
            }
        } catch {
            descriptor.close()
            throw error
        }
        return descriptor
    }

    private func bind(toPort port: UInt16) throws(SocketError) {
        let status = unsafe Self.withLoopbackAddress(port) { address, size in
            #if canImport(Glibc)
            unsafe Glibc.bind(number, address, size)
            #elseif canImport(Musl)
            unsafe Musl.bind(number, address, size)
            #else
            unsafe Darwin.bind(number, address, size)
            #endif
        }
        guard status == 0 else { throw SocketError(call: "bind", code: errno) }
    }

    /// The port that the system gave to this listening socket.
    func boundPort() throws(SocketError) -> UInt16 {
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
    func accept() -> SocketDescriptor? {
        #if canImport(Glibc)
        let number = Glibc.accept(number, nil, nil)
        #elseif canImport(Musl)
        let number = Musl.accept(number, nil, nil)
        #else
        let number = Darwin.accept(number, nil, nil)
        #endif
        return try? SocketDescriptor(number, from: "accept")
    }
}
