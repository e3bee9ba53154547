public import AccessTokenCore
public import Foundation

/// Why a login brought no grant, and what to do next.
///
/// Ask ``isDenied``, ``isTransient`` and ``isConfigurationMistake``. The former session is as it was: a login changes
/// nothing before its end. What the *token endpoint* says is an ``OAuthError``.
///
/// No error prints a secret. The server's free text is only in ``serverExplanation``.
///
/// It is a struct over a private enum: a later version can add an error without breaking a `switch`.
public struct LoginError: Error, Hashable, Sendable {
    /// Free text, which no comparison looks at.
    private struct Remark: Hashable, Sendable {
        let text: String?
        static func == (first: Remark, second: Remark) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// The last refusal of the token endpoint before the code expired, which no comparison looks at either.
    private struct LastRefusal: Hashable, Sendable {
        let error: OAuthError?
        static func == (first: LastRefusal, second: LastRefusal) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// Where a login asks the server.
    enum Place: String, Sendable {
        case metadata = "the server's metadata"
        case deviceEndpoint = "the device authorization endpoint"
        case pushEndpoint = "the pushed authorization request endpoint"
    }

    private enum Reason: Hashable, Sendable {
        case refused(code: String, explanation: Remark)
        case windowClosed
        case nobodyCameBack
        case deviceCodeExpired(LastRefusal)
        case foreignRedirect
        case wrongState
        case alreadyAnswered
        case badRedirect(parameter: String, what: String)
        case unusable(what: Remark)
        case wrongIssuer(expected: Remark, found: Remark)
        case badMetadata(what: Remark)
        case portTaken(UInt16)
        case noDescriptorLeft
        case strangeReply(Place, status: Int, what: String)
        case failed(Place, OAuthError)
    }

    private let reason: Reason

    // MARK: What the user and the server say

    /// The authorization server refused, with a code of RFC 6749, section 4.1.2.1, or RFC 8628, section 3.5.
    ///
    /// The code must not have a secret in it. The explanation is shown by ``serverExplanation`` only.
    public static func serverRefused(_ code: String, explanation: String? = nil) -> LoginError {
        LoginError(reason: .refused(code: code, explanation: Remark(text: explanation)))
    }

    /// The user closed the window.
    public static let windowClosed = LoginError(reason: .windowClosed)

    /// The user did not come back from the browser within the time limit.
    public static let nobodyCameBack = LoginError(reason: .nobodyCameBack)

    /// The user did not enter the code of the device in time.
    ///
    /// If the server has refused until then, ``code`` and ``serverExplanation`` tell how: some servers mean "not yet"
    /// by that, and others mean the client.
    public static let deviceCodeExpired = deviceCodeExpired(after: nil)

    /// - Parameter refusal: what the server said in place of "not yet"; `nil` if it said that.
    static func deviceCodeExpired(after refusal: OAuthError?) -> LoginError {
        LoginError(reason: .deviceCodeExpired(LastRefusal(error: refusal)))
    }

    // MARK: What is wrong with a redirect

    /// The URL is not the redirect URI of this login: it is for another part of the app.
    ///
    /// The login goes on.
    public static let foreignRedirect = LoginError(reason: .foreignRedirect)

    /// The redirect is of another login, or was made up: its `state` is missing or another one.
    ///
    /// The login goes on.
    public static let wrongState = LoginError(reason: .wrongState)

    /// This login has its answer already: a code is exchanged once.
    public static let alreadyAnswered = LoginError(reason: .alreadyAnswered)

    /// A parameter of the redirect is missing, repeated or unreadable.
    static func badRedirect(_ parameter: String, _ what: String) -> LoginError {
        LoginError(reason: .badRedirect(parameter: parameter, what: what))
    }

    // MARK: What is wrong with the set-up

    /// The app or the metadata names something that cannot be used.
    static func unusable(_ what: String) -> LoginError { LoginError(reason: .unusable(what: Remark(text: what))) }

    /// The metadata or the redirect names another issuer than the one that was asked.
    static func wrongIssuer(expected: String, found: String?) -> LoginError {
        LoginError(reason: .wrongIssuer(expected: Remark(text: expected), found: Remark(text: found)))
    }

    /// No metadata of the issuer could be read.
    static func badMetadata(_ what: String) -> LoginError { LoginError(reason: .badMetadata(what: Remark(text: what))) }

    /// The port of the redirect URI is in use.
    static func portTaken(_ port: UInt16) -> LoginError { LoginError(reason: .portTaken(port)) }

    /// The process, or the system, has no file descriptor left to listen with.
    static let noDescriptorLeft = LoginError(reason: .noDescriptorLeft)

    /// The server answered a request of the login with what nobody understands.
    static func strangeReply(_ place: Place, status: Int, _ what: String) -> LoginError {
        LoginError(reason: .strangeReply(place, status: status, what: what))
    }

    /// A request of the login failed.
    static func failed(_ place: Place, _ error: OAuthError) -> LoginError { LoginError(reason: .failed(place, error)) }

    // MARK: What to do next

    /// The user said no, closed the window, or let the time pass: show the sign-in screen again, and no error.
    public var isDenied: Bool {
        switch reason {
        case .refused(let code, _): Self.meaning(of: code) == .denied
        case .windowClosed, .nobodyCameBack, .deviceCodeExpired: true
        default: false
        }
    }

    /// A new login may succeed later.
    public var isTransient: Bool {
        switch reason {
        case .refused(let code, _): ["server_error", "temporarily_unavailable"].contains(code)
        case .failed(_, let error): error.isTransient
        case .portTaken, .noDescriptorLeft: true
        default: false
        }
    }

    /// The app or the server has to be configured otherwise.
    public var isConfigurationMistake: Bool {
        switch reason {
        case .refused: !isDenied && !isTransient && !requiresInteraction
        case .unusable, .wrongIssuer, .badMetadata: true
        case .failed(_, let error): error.isConfigurationMistake
        default: false
        }
    }

    /// A login with `prompt=none` needs the user after all: begin one without that parameter (OpenID Connect).
    public var requiresInteraction: Bool {
        if case .refused(let code, _) = reason { Self.meaning(of: code) == .needsUser } else { false }
    }

    /// The server's code, such as `access_denied` or `invalid_scope`.
    public var code: String? {
        switch reason {
        case .refused(let code, _): code
        case .failed(_, let error): error.code
        case .deviceCodeExpired(let last): last.error?.code
        default: nil
        }
    }

    /// The server's own words for the people who build the app; up to 200 characters.
    ///
    /// Do not log them.
    public var serverExplanation: String? {
        switch reason {
        case .refused(_, let explanation): explanation.text
        case .failed(_, let error): error.serverExplanation
        case .deviceCodeExpired(let last): last.error?.serverExplanation
        default: nil
        }
    }

    private static func meaning(of code: String) -> ReplyMeaning? { ReplyWord.known(code, for: .other)?.meaning }

    /// Lets a pattern match any error, as a case would: `catch LoginError.foreignRedirect`.
    public static func ~= (pattern: LoginError, error: any Error) -> Bool { pattern == error as? LoginError }
}

extension LoginError: LoggableError, CustomStringConvertible, CustomReflectable, LocalizedError {
    /// The server's ``code``, or a word such as `wrong_state` and `device_code_expired`.
    public var logCode: String {
        switch reason {
        case .refused(let code, _): code
        case .windowClosed: "window_closed"
        case .nobodyCameBack: "login_timed_out"
        case .deviceCodeExpired: "device_code_expired"
        case .foreignRedirect: "foreign_redirect"
        case .wrongState: "wrong_state"
        case .alreadyAnswered: "already_answered"
        case .badRedirect: "bad_redirect"
        case .unusable: "unusable_configuration"
        case .wrongIssuer: "wrong_issuer"
        case .badMetadata: "bad_metadata"
        case .portTaken: "port_taken"
        case .noDescriptorLeft: "no_descriptor_left"
        case .strangeReply(_, let status, _): "not_understood_\(status)"
        case .failed(_, let error): error.logCode
        }
    }

    /// For programmers and logs: what happened, to what, and what to do next.
    public var description: String {
        switch reason {
        case .refused(let code, _): "No login: \(Self.advice(for: code))"
        case .windowClosed: "No login: the window was closed. Begin a new login."
        case .nobodyCameBack: "No login: nobody came back from the browser in time. Begin a new login."
        case .deviceCodeExpired(let last):
            "No login: the code for this device has expired. Begin a new login for a new code."
                + (last.error.map {
                    " Until then the server refused with \($0.logCode). If it does so at each login, check the client and "
                        + "the endpoint."
                } ?? "")
        case .foreignRedirect: "The URL is not the redirect of this login. The login still waits for its own."
        case .wrongState:
            "The redirect was not asked for by this login: its state is another one. The login still waits for its own."
        case .alreadyAnswered: "This login was answered before, and a code is good for once. Begin a new login."
        case .badRedirect(let parameter, let what):
            "No login: in the server's redirect, \(parameter) is \(what). Nothing was sent. Look at what the server sends."
        case .unusable(let what): "No login: \(what.text ?? ""). Nothing was sent."
        case .wrongIssuer(let expected, let found) where found.text == nil:
            "No login: the redirect names no server, and by its metadata \(expected.text ?? "the server") names itself in each "
                + "(iss, RFC 9207). Nothing was sent. If that server never does, make the AuthorizationServer with sendsIssuer: false."
        case .wrongIssuer(let expected, let found):
            "No login: the server calls itself \(found.text ?? ""), and \(expected.text ?? "another one") was expected. "
                + "If that is your server, configure the name that it has for itself, to the letter."
        case .badMetadata(let what): "No login: \(what.text ?? "the metadata cannot be used"). Check the issuer's URL."
        case .portTaken(let port):
            "No login: port \(port) of this machine is in use. Wait for the other login, or end what listens there."
        case .noDescriptorLeft:
            "No login: this process, or the system, has no file descriptor left to listen with. Close files and "
                + "connections or raise the limit (ulimit -n), and begin a new login."
        case .strangeReply(let place, let status, let what):
            "No login: the reply of \(place.rawValue) (\(status)) was not understood: \(what). Look at what answers there."
        // What an exchange says of a refresh token is not true of these requests.
        case .failed(let place, let error) where error.sessionMayBeSpent:
            "No login: the reply of \(place.rawValue) was not understood (\(error.logCode)). Look at what answers there."
        case .failed(let place, let error):
            // The request for metadata has nothing in it that could be lost.
            "No login: \(error.sentence(on: place.rawValue, sendsSecrets: place != .metadata))"
        }
    }

    /// For the people who use the app, as `localizedDescription`: what happened and what they can do, in English.
    public var errorDescription: String? {
        if isDenied || requiresInteraction { return "The sign-in was not finished. Sign in again." }
        switch reason {
        case .foreignRedirect, .wrongState, .alreadyAnswered:
            return "This page belongs to another sign-in. Go back to the app, or begin the sign-in again."
        case .portTaken:
            return "Another sign-in is under way on this computer. Finish it, or try again in a moment."
        case .noDescriptorLeft:
            return "The sign-in cannot begin now. Try again in a moment."
        default:
            guard isTransient else { return OAuthError.misunderstanding }
            return "The sign-in server cannot be reached at present. Try again in a moment."
        }
    }

    /// A mirror without the server's free text.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }

    private static func advice(for code: String) -> String {
        switch code {
        case "server_error", "temporarily_unavailable":
            "the server cannot answer at present (\(code)). Try again later."
        case "invalid_scope": "the server does not grant that scope (invalid_scope). Ask for another one, or for none."
        case _ where meaning(of: code) == .denied:
            "access was denied, by the user or by the server (\(code)). Begin a new login."
        case _ where meaning(of: code) == .needsUser:
            "the server needs the user (\(code)). Begin a login without prompt=none."
        default: "the server refused with \(code). Check the request against the server's documentation."
        }
    }
}
