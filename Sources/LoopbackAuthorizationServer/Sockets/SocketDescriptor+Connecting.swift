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
        let descriptor = try stream()
        let status = unsafe withLoopbackAddress(port) { unsafe connect(descriptor.number, $0, $1) }
        guard status == 0 else {
            let code = errno
            descriptor.close()
            throw SocketError(call: "connect", code: code)
        }
        return descriptor
    }
}
