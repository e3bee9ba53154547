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
