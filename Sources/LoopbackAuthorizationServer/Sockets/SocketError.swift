/// The system refused a socket that the server cannot do without.
package struct SocketError: Error, Hashable, CustomStringConvertible {
    /// The system call that was refused.
    package let call: String
    /// The value of `errno` after the call.
    package let code: Int32

    package var description: String {
        "\(call) failed with errno \(code)"
    }
}
