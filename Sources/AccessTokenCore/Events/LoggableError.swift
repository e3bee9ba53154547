import Foundation

/// An error with a stable code that events and logs may show: `invalid_grant`, `http_503`.
///
/// A load's error may hold a secret in its text, so that events name its type only. An error that says its code by this
/// protocol can be told from others of its type.
public protocol LoggableError: Error {
    /// A short word that stays the same in later versions; never a secret, and never a server's free text.
    var logCode: String { get }
}

extension Error {
    /// The code of an error that has one: of ``LoggableError``, or an error domain and number of Foundation's.
    var codeForEvents: String? {
        if let error = self as? any LoggableError { return error.logCode }
        guard let error = self as? any CustomNSError else { return nil }
        return "\(type(of: error).errorDomain) \(error.errorCode)"
    }
}
