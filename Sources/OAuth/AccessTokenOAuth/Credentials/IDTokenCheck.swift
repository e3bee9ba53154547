import AccessTokenCore
import Foundation
import OAuthFoundation

/// What the ID token of a reply has to say, by what was asked for (OpenID Connect Core, sections 3.1.3.7 and 12.2).
///
/// The reply comes over TLS from the token endpoint, and so the signature may be left out. It is: this package has no
/// cryptography of its own. An encrypted ID token cannot be looked into, and is taken.
struct IDTokenCheck: Hashable, Sendable {
    /// What the server calls itself; `nil` if nobody has said.
    var issuer: String?
    /// All of these have to be named.
    var audience: [String] = []
    /// The client that the token has to be issued to, if it names one.
    var party: String?
    var nonce: String?
    /// Whether the login has asked for an ID token with this nonce, so that what is not there counts against it.
    var isOfLogin = true

    /// Seconds by which the clocks of the servers may differ, and this machine's where a reply has no `Date`.
    private static let skew: TimeInterval = 300

    /// What a login expects.
    ///
    /// - Parameter nonce: what was sent; `nil` if no ID token was asked for.
    init(issuer: String?, clientID: String, nonce: String? = nil) {
        self.issuer = issuer
        audience = clientID.isEmpty ? [] : [clientID]
        party = clientID.isEmpty ? nil : clientID
        self.nonce = nonce
    }

    /// What a renewal expects: what the session's first ID token says.
    ///
    /// `nil` without one that can be read.
    ///
    /// Another subject is not refused here: it is another user's session, which the loader tells apart.
    init?(renewing credential: Credential) {
        guard let old = credential.idToken.flatMap(IDToken.init) else { return nil }
        (issuer, audience, party, nonce) = (old.issuer, old.audience, old.party, old.nonce)
        isOfLogin = false
    }

    /// What is wrong with the ID token of a response; `nil` if nothing is, or there is none.
    ///
    /// - Parameters:
    ///   - isRead: whether the access token is the member that the specification means, and none of the app's choice.
    ///   - now: when the response was sent, by the server's clock if that is known.
    func complaint(about response: TokenResponse, isRead: Bool, at now: Date) -> String? {
        guard let text = response.idToken else { return nil }
        guard let token = IDToken(text) else {
            let isEncrypted = text.split(separator: ".", omittingEmptySubsequences: false).count == 5
            return isOfLogin && nonce != nil && !isEncrypted ? "its ID token cannot be read" : nil
        }
        if let issuer, !isNamed(issuer, by: token.issuer) {
            return "its ID token is of another issuer"
                + (isOfLogin ? "" : " than the session's; if the server has a new name, let the user sign in again")
        }
        guard Set(audience.map { ExactString($0) }).isSubset(of: token.audience.map { ExactString($0) }) else {
            return "its ID token is for another client"
        }
        if let party, let named = token.party, ExactString(named) != ExactString(party) {
            return "its ID token was issued to another client"
        }
        guard token.expiration.map({ now < $0 + Self.skew }) ?? (!isOfLogin || nonce == nil) else {
            return "its ID token has expired, or this machine's clock is wrong"
        }
        if let nonce {
            if let found = token.nonce, ExactString(found) != ExactString(nonce) {
                return "its ID token was not asked for by this login: its nonce is another one"
            }
            // A renewed token need not repeat the nonce.
            if isOfLogin, token.nonce == nil {
                return "its ID token has no nonce; if this server repeats none, begin the login with an empty nonce "
                    + "among its parameters"
            }
        }
        if isRead, let hash = token.accessTokenHash, token.algorithm?.hasSuffix("256") == true,
            hash != LoginSecret.halfDigest(of: response.accessToken.value)
        {
            return "its ID token is that of another access token"
        }
        return nil
    }

    private func isNamed(_ issuer: String, by name: String?) -> Bool {
        name.map { ExactString(Self.whole($0)) } == ExactString(Self.whole(issuer))
    }

    /// Google leaves out the scheme in some ID tokens, as its documentation says.
    private static func whole(_ name: String) -> String {
        name == "accounts.google.com" ? "https://\(name)" : name
    }
}
