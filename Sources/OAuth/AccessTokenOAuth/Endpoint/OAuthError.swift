public import Foundation

/// Why an exchange gave no token, and what to do next.
///
/// Ask ``requiresSignIn``, ``isTransient``, ``isConfigurationMistake`` and ``sessionMayBeSpent``. An error that is none
/// of them is a reply that cannot be used, which another try is not likely to change; or a ``code`` of the device grant
/// (RFC 8628, section 3.5): `authorization_pending` and `slow_down` (5 s longer) ask to poll again, `expired_token` and
/// `access_denied` do not.
///
/// No error prints a secret. The server's free text, which may repeat one, is only in ``serverExplanation``.
///
/// It is a struct over a private enum: a later version can add an error without breaking a `switch`.
public struct OAuthError: Error, Hashable, Sendable {
    /// Free text, which no comparison looks at: two refusals with one code are the same error.
    struct Remark: Hashable, Sendable {
        let text: String?
        static func == (first: Remark, second: Remark) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    enum Reason: Hashable, Sendable {
        case refused(code: String, ReplyMeaning, explanation: Remark)
        case unavailable(status: Int, retryAfter: TimeInterval?, code: Remark)
        case unreachable(code: Int, system: Remark)
        case connectionLost(code: Int, system: Remark)
        case unreadableHead(system: Remark)
        case timedOut(waitingFor: Remark)
        case notUnderstood(status: Int, what: String)
        case page(status: Int, what: Remark)
        case unusableToken(what: String, type: Remark)
        case heldBack(what: String)
        case redirected(status: Int)
        case bodyTooLong
        case insecureEndpoint
        case userInEndpoint
        case invalidCodeVerifier
        case assertionTimedOut
        case proofKeyLost
        case noProofKeys
        case unusableProofKey(what: String)
    }

    let reason: Reason

    // MARK: What the server says

    /// The server refused, with a code of RFC 6749, section 5.2, and perhaps an explanation for people.
    ///
    /// The code must not have a secret in it. The explanation is shown by ``serverExplanation`` only.
    public static func refused(_ code: String, explanation: String? = nil) -> OAuthError {
        let meaning = ReplyWord.known(code, for: .other)?.meaning
        return refused(code, meaning ?? .mistake, explanation: explanation)
    }

    /// The server refused in words of its own, which mean this.
    static func refused(_ code: String, _ meaning: ReplyMeaning, explanation: String? = nil) -> OAuthError {
        OAuthError(reason: .refused(code: code, meaning, explanation: Remark(text: explanation)))
    }

    /// The server cannot answer at present (429, 5xx); it may say after how many seconds to ask again.
    public static func unavailable(status: Int, retryAfter: TimeInterval? = nil) -> OAuthError {
        unavailable(status: status, retryAfter: retryAfter, code: nil)
    }

    /// The server cannot answer at present, and says so with a code.
    static func unavailable(status: Int, retryAfter: TimeInterval?, code: String?) -> OAuthError {
        OAuthError(reason: .unavailable(status: status, retryAfter: retryAfter, code: Remark(text: code)))
    }

    /// The reply is none of a token endpoint; `what` says why, and must not have a secret in it.
    ///
    /// After a status of 2xx the server has carried the request out, and the refresh token may be spent: see
    /// ``sessionMayBeSpent``.
    public static func notUnderstood(status: Int, _ what: String) -> OAuthError {
        OAuthError(reason: .notUnderstood(status: status, what: what))
    }

    /// A reply of 2xx without a trace of a token, or a page of HTML with 4xx: something else has answered in the
    /// server's place, such as the sign-in page of a network, a firewall, or a server that is being maintained.
    ///
    /// As after a lost reply, nobody knows whether the request was carried out; with 4xx it was not (RFC 9110, section
    /// 15.5).
    static func page(status: Int, _ what: String) -> OAuthError {
        OAuthError(reason: .page(status: status, what: Remark(text: what)))
    }

    /// The reply can be read, and its access token cannot be used; `what` says why, and must not have a secret in it.
    ///
    /// The session is not lost: an ``OAuthLoader`` saves the refresh token of such a reply. It asks for no other reply
    /// of the kind for five minutes, or until the endpoint takes the token's type.
    public static func unusableToken(_ what: String) -> OAuthError {
        unusableToken(what, type: nil)
    }

    /// The access token is of another type than those that the endpoint takes.
    static func unusableToken(_ what: String, type: String?) -> OAuthError {
        OAuthError(reason: .unusableToken(what: what, type: Remark(text: type)))
    }

    /// The server sent the request elsewhere, which is not followed: it would take the secrets with it.
    public static func redirected(status: Int) -> OAuthError {
        OAuthError(reason: .redirected(status: status))
    }

    /// The reply to a request that was carried out is longer than a megabyte, and was not read further.
    public static let bodyTooLong = OAuthError(reason: .bodyTooLong)

    // MARK: What the connection says

    /// There is no usable connection to the server, and nothing of the request's body was sent.
    ///
    /// `code` is that of the system's `URLError`; `system` is what the system says, such as why a certificate is not
    /// trusted.
    public static func unreachable(code: Int, system: String? = nil) -> OAuthError {
        OAuthError(reason: .unreachable(code: code, system: Remark(text: system)))
    }

    /// The request was sent, and the connection brought no whole reply, or none in HTTP; `code` and `system` as above.
    public static func connectionLost(code: Int, system: String? = nil) -> OAuthError {
        OAuthError(reason: .connectionLost(code: code, system: Remark(text: system)))
    }

    /// `URLSession` cannot read the head of the reply, and the tokens behind it are lost.
    ///
    /// The server sends such a head each time, so the same request does not help; see <doc:ThreatModel>.
    public static func unreadableHead(system: String? = nil) -> OAuthError {
        OAuthError(reason: .unreadableHead(system: Remark(text: system)))
    }

    /// The server did not reply within the endpoint's deadline, or the load had not come to ask it.
    ///
    /// Where the load had to wait for its store or for another process, the error says so, and
    /// ``mayHaveBeenCarriedOut`` is `false`: the load has sent nothing.
    public static let timedOut = OAuthError(reason: .timedOut(waitingFor: Remark(text: nil)))

    /// The deadline has passed while a load waited, and the load has sent nothing.
    static func timedOut(waitingFor what: String) -> OAuthError {
        OAuthError(reason: .timedOut(waitingFor: Remark(text: what)))
    }

    // MARK: What was not sent

    /// An ``OAuthLoader`` did not send the refresh token again: it may be spent, since the last reply to it could not
    /// be read.
    ///
    /// The credential is still in the store. Let the user sign in, or call ``OAuthLoader/sendAgain()``. `what` says
    /// what was wrong with the reply.
    public static func heldBack(_ what: String) -> OAuthError {
        OAuthError(reason: .heldBack(what: what))
    }

    /// The endpoint is not `https`, nor on this machine: the request would have shown its secrets to everybody.
    public static let insecureEndpoint = OAuthError(reason: .insecureEndpoint)

    /// The endpoint's URL has a user name in it: what one parser takes for the user is the host to another.
    public static let userInEndpoint = OAuthError(reason: .userInEndpoint)

    /// The code verifier is not of the form that RFC 7636, section 4.1, has.
    public static let invalidCodeVerifier = OAuthError(reason: .invalidCodeVerifier)

    /// The app did not make the client assertion, or the grant, within the endpoint's deadline.
    public static let assertionTimedOut = OAuthError(reason: .assertionTimedOut)

    // MARK: Proofs of possession

    /// The session's tokens are bound to a key (RFC 9449), and that key is lost: only a login helps.
    ///
    /// The credential stays in its store until then: another process may have the key.
    public static let proofKeyLost = OAuthError(reason: .proofKeyLost)

    /// The session's tokens are bound to a key, and the endpoint has no `proofKeys`.
    static let noProofKeys = OAuthError(reason: .noProofKeys)

    /// The app's own key is none that proofs can be made with.
    static func unusableProofKey(_ what: String) -> OAuthError { OAuthError(reason: .unusableProofKey(what: what)) }

    /// Lets a pattern match any error, as a case would: `catch OAuthError.timedOut`.
    public static func ~= (pattern: OAuthError, error: any Error) -> Bool {
        pattern == error as? OAuthError
    }
}
