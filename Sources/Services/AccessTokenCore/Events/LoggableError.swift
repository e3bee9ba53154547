/// An error with a stable code that events and logs may show: `invalid_grant`, `http_503`.
///
/// A load's error may hold a secret in its text. Therefore events name its type only. An error that says its code by
/// this protocol can be told from others of its type. An `NSError` without the protocol is told by its domain and its
/// code.
public protocol LoggableError: Error {
    /// A short word that stays the same in later versions; never a secret, and never a server's free text.
    var logCode: String { get }
}

/// What events say of a load's error: its type, and its code if it has one.
///
/// It is made outside of a service's decisions, since the error's own code may do anything.
package struct LoggedError: Sendable {
    let type: String
    let code: String?

    package init(_ error: any Error) {
        type = String(describing: Swift.type(of: error))
        if let error = error as? any LoggableError {
            code = error.logCode
        } else {
            // What Foundation calls an error's domain and code; an error that says nothing of them has its type's name.
            let isPlain = error._domain == String(reflecting: Swift.type(of: error))
            code = isPlain ? nil : "\(error._domain) \(error._code)"
        }
    }

    init(type: String, code: String) {
        self.type = type
        self.code = code
    }
}
