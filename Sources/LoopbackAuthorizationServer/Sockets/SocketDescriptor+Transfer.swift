#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SocketDescriptor {
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
        guard setOption(SO_NOSIGPIPE, to: 1) else { return false }
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                let sent = unsafe Glibc.send(number, part.baseAddress, part.count, flags)
                #elseif canImport(Musl)
                let sent = unsafe Musl.send(number, part.baseAddress, part.count, flags)
                #else
                let sent = unsafe Darwin.send(number, part.baseAddress, part.count, flags)
                #endif
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
