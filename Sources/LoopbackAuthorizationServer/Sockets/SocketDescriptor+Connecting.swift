#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SocketDescriptor {
    /// A connection to a port of 127.0.0.1, as a client has it.
    static func connected(toPort port: UInt16) throws(SocketError) -> SocketDescriptor {
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        let descriptor = try SocketDescriptor(socket(AF_INET, stream, 0), from: "socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor.number, pointer, size)
            }
        }
        guard status == 0 else {
            let code = errno
            descriptor.close()
            throw SocketError(call: "connect", code: code)
        }
        return descriptor
    }
}
