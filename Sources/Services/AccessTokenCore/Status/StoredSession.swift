/// What an app has stored of a session: told to a service that looks there without loading.
///
/// `OAuthLoader.storedSession()` makes it of a credential. For a store of your own, write a closure that does:
///
/// ```swift
/// try await service.look { keychain.credential == nil ? nil : StoredSession() }
/// ```
public struct StoredSession: Hashable, Sendable {
    /// The access token that is stored, if there is one; it may have expired.
    public var token: AccessToken?

    /// Whose session it is, in words that are the same for one user and different for two; `nil` if nobody knows.
    public var subject: String?

    /// Whether it is known that the session cannot go on without a login.
    public var needsLogin: Bool

    /// Creates what is known of a session that is stored.
    public init(token: AccessToken? = nil, subject: String? = nil, needsLogin: Bool = false) {
        self.token = token
        self.subject = subject
        self.needsLogin = needsLogin
    }
}

extension StoredSession: CustomStringConvertible, CustomReflectable {
    /// What there is, without the name of the user.
    public var description: String {
        "StoredSession(\(token.map { "\($0)" } ?? "no token"), needsLogin: \(needsLogin))"
    }

    /// A mirror without the name of the user.
    public var customMirror: Mirror {
        Mirror(self, children: ["token": token as Any, "needsLogin": needsLogin], displayStyle: .struct)
    }
}
