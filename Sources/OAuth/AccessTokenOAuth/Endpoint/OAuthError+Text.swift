public import AccessTokenCore
public import Foundation

extension OAuthError: LoggableError, CustomStringConvertible, CustomReflectable, LocalizedError {
    /// The server's ``code``, or a word such as `http_503` and `timed_out`: what a service's events say of a failed
    /// load.
    public var logCode: String {
        switch reason {
        case .refused(let code, _, _): code
        case .unavailable(let status, _, let code): code.text ?? "http_\(status)"
        case .unreachable: "unreachable"
        case .connectionLost: "reply_lost"
        case .unreadableHead: "unreadable_head"
        case .timedOut: "timed_out"
        case .notUnderstood(let status, _): "not_understood_\(status)"
        case .page(let status, _): "page_\(status)"
        case .unusableToken: "unusable_token"
        case .heldBack: "held_back"
        case .redirected(let status): "redirected_\(status)"
        case .bodyTooLong: "body_too_long"
        case .insecureEndpoint: "insecure_endpoint"
        case .userInEndpoint: "user_in_endpoint"
        case .invalidCodeVerifier: "invalid_code_verifier"
        case .assertionTimedOut: "assertion_timed_out"
        case .proofKeyLost: "proof_key_lost"
        case .noProofKeys: "no_proof_keys"
        case .unusableProofKey: "unusable_proof_key"
        }
    }

    /// For programmers and logs: what happened, to what, and what to do next.
    public var description: String { "No token: \(sentence())" }

    /// The same of a request to another `place`, which may have nothing in it that could be lost.
    func sentence(on place: String = "the token endpoint", sendsSecrets: Bool = true) -> String {
        let unsent = sendsSecrets ? "; nothing was sent" : ""
        return switch reason {
        case .refused(let code, let meaning, _):
            "\(place) refused with \(code). \(Self.advice(for: code, meaning))"
        case .unavailable(_, _, let code) where code.text == "slow_down":
            "\(place) is asked too often (slow_down). Poll 5 s slower from now on."
        case .unavailable(let status, let seconds, let code):
            "\(place) cannot answer at present (\(code.text.map { "\(status), \($0)" } ?? "\(status)")). "
                + (seconds.map { "Try again after \($0) s." } ?? "Try again later.")
        case .unreachable(let code, let system): Self.unreachable(code, system, place, unsent)
        case .connectionLost(let code, let system):
            "the request was sent, and no whole reply came (\(Self.text(code, system))). Try once again."
        case .unreadableHead(let system):
            "URLSession cannot read the head of \(place)'s reply (\(system.text ?? "no reason")), and another try "
                + "does not help. \(Self.spent) Look at the head with curl -v: on Linux lines must end in CRLF and be UTF-8, "
                + "with a space after the status and none before a colon, below 100 KB. A proxy can write it anew."
        case .timedOut(let waitingFor) where waitingFor.text != nil:
            "the load waited for \(waitingFor.text ?? "its turn") until the deadline\(unsent). Try again later."
        case .timedOut:
            "\(place) did not reply within the deadline. Try again later; an OAuthLoader keeps a late reply."
        case .notUnderstood(let status, let what) where sessionMayBeSpent:
            "\(place)'s reply (\(status)) was not understood: \(what). \(Self.spent) If the tokens are in another "
                + "place of the reply, give the endpoint a replyMapping."
        case .notUnderstood(let status, let what):
            "\(place)'s reply (\(status)) was not understood: \(what). Look at what answers there."
        case .page(let status, let what):
            "a page has answered in the place of \(place) (\(status)): \(what.text ?? "it is no JSON object"). Try once "
                + "again. If that stays so, look at what answers there: a network's sign-in, or maintenance."
        case .unusableToken(let what, _):
            "\(place)'s reply has an access token that cannot be used, or none: \(what). The session is not lost; "
                + "look at what answers there."
        case .heldBack(let what):
            "the reply to the last request could not be read (\(what)). \(Self.spent)"
        case .redirected(let status):
            "\(place) redirects (\(status)), which is not followed. Configure its present URL."
        case .bodyTooLong:
            "\(place)'s reply is longer than a megabyte. \(Self.spent) Look at what answers there."
        case .insecureEndpoint:
            "the endpoint's URL is not https. Use https, or allow plain HTTP where nobody can listen."
        case .userInEndpoint:
            "the endpoint's URL has a user name in it\(unsent). Remove the user name and password, and name the "
                + "client by its ClientAuthentication."
        case .invalidCodeVerifier:
            "the code verifier must be 43 to 128 letters, digits, '-', '.', '_' or '~'."
        case .assertionTimedOut:
            "the app made no client assertion, or no grant, within the deadline\(unsent). Look at what makes it."
        case .proofKeyLost:
            "the session is bound to a key, and the key is lost\(unsent). Let the user sign in: a new session has a "
                + "new key."
        case .noProofKeys:
            "the session is bound to a key, and the endpoint has no proofKeys to read it with\(unsent). Give the "
                + "endpoint the proofKeys of the login."
        case .unusableProofKey(let what):
            "the key of the app's own is of no use: \(what). Look at what makes the ProofKey."
        }
    }

    private static let spent =
        "The server has carried the request out, so the refresh token may be spent: an OAuthLoader keeps the credential, and "
        + "does not send that token again. Let the user sign in, or call sendAgain()."

    private static func unreachable(_ code: Int, _ system: Remark, _ place: String, _ unsent: String) -> String {
        if isUnusableURL(code) {
            return
                "the system takes no such URL for the endpoint (\(text(code, system)))\(unsent). Configure the "
                + "URL, and on Apple platforms App Transport Security for plain HTTP."
        }
        if isUntrustedCertificate(code) {
            let words = [URLError.Code.text(code), system.text ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
            return "the certificate of \(place) is not accepted (\(words))\(unsent). Check the "
                + "certificate, the authorities of this system, and its clock."
        }
        return "no connection to \(place) (\(text(code, system)))\(unsent). Try again later."
    }

    private static func text(_ code: Int, _ system: Remark) -> String {
        let known = URLError.Code.text(code)
        return system.text.map { known.contains(":") ? known : "\(known): \($0)" } ?? known
    }

    private static func advice(for code: String, _ meaning: ReplyMeaning) -> String {
        switch meaning {
        case .sessionEnded: return "The refresh token or code is no good any more: sign in again."
        case .needsUser: return "The server wants to see the user: sign in again. The credential stays."
        case .later: return "Try again later."
        case .notYet: return "The user has not decided yet: poll again after the interval."
        case .slowDown: return "Poll 5 s slower from now on."
        case .codeExpired: return "The device code has expired: begin the device authorization anew."
        case .denied: return "The user refused, or the server did: do not repeat the request."
        case .mistake: break
        }
        return switch code {
        case "invalid_client": "Check the client's identifier, secret and method of authentication."
        case "unauthorized_client", "unsupported_grant_type": "Check which grants the client is registered for."
        case "invalid_scope": "Ask for no scope, or for none that was not granted."
        case "use_dpop_nonce":
            "The server wants proofs of possession (RFC 9449): give the endpoint proofKeys, and let the user sign in."
        case "invalid_dpop_proof":
            "Give the endpoint proofKeys if it has none. Else check this machine's clock, that the endpoint's URL is "
                + "the server's own name for it, and that the server takes proofs by \(Proof.algorithm)."
        case "invalid_target": "Check the resource or audience that the request names."
        default: "The grant is kept; check the request against the server's documentation."
        }
    }

    /// For the people who use the app, as `localizedDescription`: what happened and what they can do, in English.
    public var errorDescription: String? {
        if requiresSignIn { return "Your session has ended. Sign in again." }
        if sessionMayBeSpent { return "The sign-in server gave an answer that cannot be used. Sign in again." }
        if isTransient { return "The sign-in server cannot be reached at present. Try again in a moment." }
        if case .refused(_, let meaning, _) = reason, meaning.isOfDevice {
            return "The sign-in is not finished. Allow it in the browser, or begin it again."
        }
        return Self.misunderstanding
    }

    /// For the people who use the app, where neither they nor time can help.
    static let misunderstanding =
        "The sign-in server and this app do not understand each other. Update the app, or ask its maker for help."

    /// A mirror without the server's free text: `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description], displayStyle: .struct)
    }
}
