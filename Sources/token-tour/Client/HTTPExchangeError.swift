/// An exchange that brought no reply that could be used.
enum HTTPExchangeError: Error, Hashable, CustomStringConvertible {
    /// The connection failed; the text is the system's.
    case connection(String)
    /// The body was longer than anything that a token endpoint or the tour's resource sends.
    case bodyTooLong

    var description: String {
        switch self {
        case .connection(let reason): "no reply: \(reason)"
        case .bodyTooLong: "the reply was too long"
        }
    }
}
