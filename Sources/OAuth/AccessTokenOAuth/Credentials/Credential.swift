public import AccessTokenCore
public import Foundation

/// What keeps a session alive: an access token, and the refresh token for the next one (RFC 6749, section 1.5).
///
/// It never prints a secret. `Codable` does write them, because that is how a credential is stored; store it only where
/// secrets belong.
public struct Credential: Hashable, Sendable, Codable {
    /// The access token that came last; `nil` if only the refresh token is known.
    ///
    /// One that no header can carry counts as none (RFC 6750, section 2.1): it is empty, or has a space, a line break
    /// or another character than those of ASCII.
    public internal(set) var accessToken: AccessToken?

    /// The refresh token to use next; `nil` for grants that give none.
    ///
    /// White space around it is left out. What is empty then, or has characters that no refresh token has (RFC 6749,
    /// appendix A.17), counts as none.
    public internal(set) var refreshToken: String?

    /// What the access token is good for, in the server's words; `nil` means what was asked for.
    public internal(set) var scope: String?

    /// When the access token came, by the clock of the machine that exchanged it.
    public internal(set) var obtained: Date?

    /// The other members of the server's responses, such as `id_token`; text as it is, anything else as its JSON.
    ///
    /// ``init(_:renewing:at:)`` keeps up to 64 KiB of names and values: first the ID token, then the members of the new
    /// response, then those of earlier ones, and the shortest of each first. It leaves out a member that does not fit.
    public let otherMembers: [String: String]

    /// Whose credential it is, as the app says or the ID token does (`sub`; OpenID Connect Core, section 2); `nil` if
    /// neither.
    ///
    /// The signature of the ID token is **not verified**: the subject keeps accounts apart, and proves nothing.
    public private(set) var subject: String?

    /// The key that the tokens are bound to (RFC 9449), as ``ProofKeys`` reads it; `nil` if they are bound to none.
    package private(set) var proofKey: Data?

    /// Says that the refresh token was sent and no reply is known; `nil` otherwise.
    var note: SentNote?

    /// The access tokens of loaders with a key; `nil` until the first of them has loaded.
    var keyedTokens: KeyedTokens?

    /// Why the refresh token is not sent for other keys than that of the note; `nil` if nothing of that kind is known.
    var keyedHolds: [DatedHold]?

    /// Which session it is of; no comparison looks at it.
    var session = SessionNumber()

    /// The ID token of OpenID Connect, if the server has sent one; for what of it was checked see
    /// ``TokenResponse/idToken``.
    public var idToken: String? { otherMembers["id_token"] }

    /// Creates a credential, for one that the app has stored elsewhere up to now.
    ///
    /// `subject` is that of the ID token among the other members, unless you say another one.
    public init(
        accessToken: AccessToken? = nil,
        refreshToken: String?,
        scope: String? = nil,
        obtained: Date? = nil,
        otherMembers: [String: String] = [:],
        subject: String? = nil
    ) {
        self.accessToken = accessToken.flatMap { TokenCharacters.canBeSent($0) ? $0 : nil }
        self.refreshToken = refreshToken.flatMap(TokenCharacters.sendable)
        self.scope = scope
        self.obtained = obtained
        self.otherMembers = otherMembers
        self.subject = subject ?? IDToken.subject(otherMembers)
    }

    /// Reads a stored credential, also one of an earlier version, which had no other members or no subject.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            accessToken: try members.decodeIfPresent(AccessToken.self, forKey: .accessToken),
            refreshToken: try members.decodeIfPresent(String.self, forKey: .refreshToken),
            scope: try members.decodeIfPresent(String.self, forKey: .scope),
            obtained: try members.decodeIfPresent(Date.self, forKey: .obtained),
            otherMembers: try members.decodeIfPresent([String: String].self, forKey: .otherMembers) ?? [:],
            subject: try members.decodeIfPresent(String.self, forKey: .subject)
        )
        // Without its key, a session is over: what cannot be read must not look like a credential without a key.
        proofKey = try members.decodeIfPresent(Data.self, forKey: .proofKey)
        // A later version may write other notes, which must not cost the session.
        note = try? members.decodeIfPresent(SentNote.self, forKey: .note)
        // They can be loaded again.
        keyedTokens = (try? members.decodeIfPresent(KeyedTokens.self, forKey: .keyedTokens))?
            .filter { TokenCharacters.canBeSent($0.accessToken) }
        keyedHolds = try? members.decodeIfPresent([DatedHold].self, forKey: .keyedHolds)
        session = SessionNumber(try? members.decodeIfPresent(UInt64.self, forKey: .session))
    }

    /// Creates the credential that a response makes out of the present one.
    ///
    /// What the server does not send anew stays as it was (RFC 6749, sections 5.1 and 6), but for ``otherMembers`` that
    /// do not fit.
    ///
    /// - Parameters:
    ///   - response: the token endpoint's.
    ///   - old: the credential whose refresh token was sent; `nil` at the start of a session.
    ///   - now: when the response came.
    public init(_ response: TokenResponse, renewing old: Credential? = nil, at now: Date = .now) {
        let (former, present) = (IDToken.subject(old?.otherMembers ?? [:]), IDToken.subject(response.otherMembers))
        // The app may call its users otherwise than the server does, and its word counts while the server's stays the
        // same.
        let isAnother = former != nil && present != nil && !present.isExactly(former)
        self.init(
            accessToken: response.accessToken,
            refreshToken: response.refreshToken ?? old?.refreshToken,
            scope: response.scope ?? old?.scope,
            obtained: now,
            otherMembers: Self.fitting(response.otherMembers, over: old?.otherMembers ?? [:]),
            subject: isAnother ? present : old?.subject ?? present
        )
        proofKey = response.proofKey ?? old?.keyOfRenewal
        keyedTokens = isAnother || proofKey != old?.proofKey ? nil : old?.keyedTokens
        keyedHolds = isAnother ? nil : old?.holdsLasting(besides: nil, at: now)
        session = isAnother ? SessionNumber() : old?.session ?? SessionNumber()
    }

    /// The key of what a renewal brings, unless the response says another one.
    ///
    /// Without a refresh token, a grant is exchanged: what that brings is bound to the key that it was sent with.
    private var keyOfRenewal: Data? { refreshToken == nil ? nil : proofKey }

    /// In bytes of UTF-8.
    private static let longestOtherMembers = 65_536

    /// A server that adds a member with each response would otherwise make the credential too long for any store.
    private static func fitting(_ new: [String: String], over old: [String: String]) -> [String: String] {
        let members = old.merging(new) { $1 }.map { name, value in
            let rank = name == "id_token" ? 0 : new[name] != nil ? 1 : 2
            return (name: name, value: value, order: (rank, name.utf8.count + value.utf8.count, name))
        }
        var room = longestOtherMembers
        var fitting: [String: String] = [:]
        for member in members.sorted(by: { $0.order < $1.order }) where member.order.1 <= room {
            fitting[member.name] = member.value
            room -= member.order.1
        }
        return fitting
    }

    /// Whether it is known to belong to somebody else; `nil` asks for nobody.
    func isOfAnother(than subject: String?) -> Bool { self.subject.isAnother(than: subject) }

    /// The same for a subject, unless it has one.
    func of(_ subject: String?) -> Credential {
        guard self.subject == nil, let subject else { return self }
        var credential = self
        credential.subject = subject
        return credential
    }

    /// The same with tokens that are bound to a key, for the contract of stores.
    package func bound(to key: Data) -> Credential {
        var credential = self
        credential.proofKey = key
        return credential
    }

    /// The same with another refresh token, which came without an access token.
    func with(refreshToken: String, boundTo key: Data?) -> Credential {
        var credential = holding(holds.isEmpty ? nil : holds).noting(nil)
        credential.refreshToken = TokenCharacters.sendable(refreshToken)
        credential.proofKey = key ?? keyOfRenewal
        // The access tokens are bound to the former key.
        if credential.proofKey != proofKey { (credential.accessToken, credential.keyedTokens) = (nil, nil) }
        return credential
    }

    /// Whether an access token can be handed out; the leeway never uses up more than half of its life (clause C4).
    static func isUsable(_ accessToken: AccessToken?, obtained: Date?, at now: Date, leeway: TimeInterval) -> Bool {
        guard let accessToken else { return false }
        guard let expiration = accessToken.expiration else { return true }
        let life = obtained.map { max(0, expiration.timeIntervalSince($0)) } ?? .infinity
        return now < expiration.addingTimeInterval(-min(leeway, life / 2))
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    /// What there is, and never a secret.
    public var description: String {
        let access = accessToken.map { "\($0)" } ?? "none"
        return "Credential(\(access), refreshToken: \(refreshToken == nil ? "none" : "<hidden>"))"
    }

    /// A mirror without the refresh token, the scope and the other members: `dump` prints no secret and no free text.
    public var customMirror: Mirror {
        Mirror(self, children: ["accessToken": accessToken as Any], displayStyle: .struct)
    }
}

extension String? {
    /// Whether this subject and another one are known, and are two users; `nil` may be anybody.
    func isAnother(than subject: String?) -> Bool {
        guard let self, let subject else { return false }
        return ExactString(self) != ExactString(subject)
    }
}
