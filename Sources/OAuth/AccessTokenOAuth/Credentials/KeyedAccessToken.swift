public import AccessTokenCore
package import Foundation

/// The access token of a loader with a key, beside the credential's own access token.
struct KeyedAccessToken: Hashable, Sendable, Codable {
    let accessToken: AccessToken
    let scope: String?
    let obtained: Date?
}

extension Credential {
    /// The access token that a loader with this key has loaded last; for `nil`, the credential's own.
    ///
    /// A key stands for an audience, a resource or a scope: see ``TokenExchange``.
    public func accessToken(for key: String?) -> AccessToken? {
        guard let key else { return accessToken }
        return keyedTokens?[key]?.accessToken
    }

    /// The credential that a response for a key makes out of the present one: the access tokens of other keys stay.
    init(_ response: TokenResponse, renewing old: Credential?, for key: String?, at now: Date) {
        let issued = Credential(response, renewing: old, at: now)
        guard let key else {
            self = issued
            return
        }
        // The access tokens of another user, or of another proof key, are not kept.
        let isOfSameUser = old?.subject == nil || issued.subject.isExactly(old?.subject)
        let kept = isOfSameUser && issued.proofKey == old?.proofKey ? old : nil
        self = issued
        (accessToken, scope, obtained) = (kept?.accessToken, kept?.scope, kept?.obtained)
        // What has expired is of no use, and a record must not grow with each key that was ever used.
        var tokens = (kept?.keyedTokens ?? [:]).filter { ($0.accessToken.expiration ?? .distantFuture) > now }
        tokens[key] = KeyedAccessToken(accessToken: response.accessToken, scope: response.scope, obtained: now)
        keyedTokens = tokens
        keyedHolds = kept?.holdsLasting(besides: key, at: now)
    }

    /// Whether the access token for a key can be handed out.
    func isUsable(for key: String?, at now: Date, leeway: TimeInterval) -> Bool {
        let obtained = if let key { keyedTokens?[key]?.obtained } else { obtained }
        return Self.isUsable(accessToken(for: key), obtained: obtained, at: now, leeway: leeway)
    }

    /// When an access token came last, for whichever key.
    package var renewed: Date? {
        ([obtained] + (keyedTokens?.values.map(\.obtained) ?? [])).compactMap(\.self).max()
    }

    /// The same with other access tokens of keys.
    func keying(_ tokens: KeyedTokens?) -> Credential {
        var credential = self
        credential.keyedTokens = tokens
        return credential
    }

    /// The same with other holds of keys.
    func holding(_ holds: [DatedHold]?) -> Credential {
        var credential = self
        credential.keyedHolds = holds
        return credential
    }

    /// Every hold of which the record says, that of the note first.
    var holds: [DatedHold] { [note?.hold].compactMap(\.self) + (keyedHolds ?? []) }

    /// What of that goes on when a loader with this key sends the refresh token; `nil` if it is nothing.
    func holdsLasting(besides key: String?, at now: Date) -> [DatedHold]? {
        let others = holds.lasting(besides: key, at: now)
        return others.isEmpty ? nil : others
    }

    /// The values of all access tokens, each once: the credential's own first.
    var accessTokens: [String] {
        let own = accessToken.map(\.value)
        return [own].compactMap(\.self) + Set(keyedValues.values.map(\.string)).filter { $0 != own }.sorted()
    }

    /// The values of the access tokens of all keys.
    var keyedValues: [ExactString: ExactString] { (keyedTokens?.byKey ?? [:]).mapValues(\.accessToken.secret) }
}

extension KeyedAccessToken {
    func moved(by seconds: TimeInterval) -> KeyedAccessToken {
        KeyedAccessToken(
            accessToken: accessToken.moved(by: seconds),
            scope: scope,
            obtained: obtained?.addingTimeInterval(seconds)
        )
    }
}

extension AccessToken {
    /// The same with an expiration that is so many seconds later.
    func moved(by seconds: TimeInterval) -> AccessToken {
        AccessToken(value: value, expiration: expiration?.addingTimeInterval(seconds))
    }
}
