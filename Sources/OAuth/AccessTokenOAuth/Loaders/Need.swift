import AccessTokenCore

/// What a load needs before it sends; `indirect`, so that it is small in the frames of those that wait.
indirect enum Need: Equatable, Sendable {
    case turn
    /// A grant, and a turn; a grant for another session may be one for another user.
    case grant(SessionMark)
}

/// What tells one session in a store from another.
///
/// Not the whole credential: what a store makes of a date need not be equal to the last digit, and a loader with
/// another key writes its token into the same session.
struct SessionMark: Hashable, Sendable {
    private let subject: ExactString?
    private let refreshToken: String?
    private let accessToken: String?
    private let number: SessionNumber

    init(_ credential: Credential?) {
        number = credential?.session ?? SessionNumber()
        subject = credential?.subject.map { ExactString($0) }
        refreshToken = credential?.refreshToken
        accessToken = credential?.accessToken?.value
    }

    /// The tokens, as far as they are known, for a revocation.
    var credential: Credential {
        Credential(
            accessToken: accessToken.map { AccessToken(value: $0) },
            refreshToken: refreshToken,
            subject: subject?.string
        ).inSession(number)
    }

    /// Whether a credential is of this session, also if another process has renewed it since.
    func isOf(_ credential: Credential) -> Bool {
        guard let own = number.value, let other = credential.session.value else { return hasTokens(of: credential) }
        return own == other
    }

    /// Whether a credential has the tokens of this session: a server that does not rotate keeps the refresh token.
    func hasTokens(of credential: Credential) -> Bool {
        guard let refreshToken else { return accessToken != nil && accessToken == credential.accessToken?.value }
        return refreshToken == credential.refreshToken
    }
}

/// What a load has of its ``Need``.
///
/// A class, so that a waiting frame holds a pointer only.
final class Means: Sendable {
    /// A grant, and the session that was in the store when the grant was made.
    typealias Grant = (grant: TokenGrant, session: SessionMark)

    /// Means of a load that may find what it wants without sending anything.
    static let none = Means()

    let turn: ExchangeGate.Turn?
    let grant: Grant?
    /// Whether the load has the place of its store in the line, which it leaves when it ends.
    let hasPlace: Bool

    init(turn: ExchangeGate.Turn? = nil, grant: Grant? = nil, hasPlace: Bool = false) {
        self.turn = turn
        self.grant = grant
        self.hasPlace = hasPlace
    }

    func cover(_ need: Need) -> Bool {
        switch need {
        case .turn: turn != nil
        case .grant(let session): grant?.session == session
        }
    }
}
