#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file descriptor of this process, and the few system calls that the server makes on it.
///
/// This type and its extensions in this folder hold all of the package's pointer code for sockets.
/// It does not close itself: whoever takes a descriptor out of a call is the one to close it, once.
struct SocketDescriptor: Hashable, Sendable {
    let number: Int32

    /// Takes the result of a call that answers with a descriptor, or with -1 and an `errno`.
    init(_ number: Int32, from call: String) throws(SocketError) {
        guard number >= 0 else { throw SocketError(call: call, code: errno) }
        self.number = number
    }

    func close() {
        #if canImport(Glibc)
        _ = Glibc.close(number)
        #elseif canImport(Musl)
        _ = Musl.close(number)
        #else
        _ = Darwin.close(number)
        #endif
    }

    /// Wakes a thread that waits in ``receive(upTo:)``, and leaves an answer the time to be sent.
    func endReceiving() {
        _ = shutdown(number, Int32(SHUT_RD))
    }

    /// Tells the peer that all has been sent.
    func endSending() {
        _ = shutdown(number, Int32(SHUT_WR))
    }

    @discardableResult
    func setOption(_ option: Int32, to value: Int32) -> Bool {
        var value = value
        return unsafe setsockopt(number, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    /// Lets no read and no write wait for longer than this.
    func limitWaiting(seconds: Int) {
        var limit = timeval()
        limit.tv_sec = seconds
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }
}
