import AccessTokenGCD
import AccessTokenOAuth

/// How a caller's call came to its end.
enum CallEnd: Sendable {
    case served
    /// The reason, the same for all whom the same thing happened to.
    case unserved(String)

    static func noToken(_ error: any Error) -> CallEnd { .unserved("no token, \(text(of: error))") }

    static func answered(_ status: Int) -> CallEnd {
        (200..<300).contains(status) ? .served : .unserved("the resource answered \(status)")
    }

    /// An error in a few words.
    static func text(of error: any Error) -> String {
        if error as? AccessTokenError == .signedOut { return "signed out" }
        guard let error = error as? OAuthError else { return "\(error)" }
        if let code = error.code { return code }
        if error == .timedOut { return "no reply in time" }
        if error.mayHaveBeenCarriedOut { return "connection lost" }
        return error.isTransient ? "server not available" : "reply not understood"
    }
}
