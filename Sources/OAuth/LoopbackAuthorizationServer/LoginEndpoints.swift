import AccessTokenCore
import Foundation
import OAuthFoundation

/// Where users decide: the pages for a browser, and the codes for a device.
struct LoginEndpoints: Sendable {
    static let authorizationPath = "/authorize"
    static let pushPath = "/par"
    static let deviceAuthorizationPath = "/device_authorization"
    static let devicePath = "/device"

    /// The users of the server, who need no password.
    static let users = ["alice", "bob"]

    /// Seconds.
    static let deviceCodeLifetime = 600

    private static let refusal = "refuse"

    let clients: [AuthorizationServerClient]
    /// Seconds between two requests of a device.
    let deviceInterval: Int
    /// Whether the browser may bring references only (RFC 9126, section 5).
    let requiresPushedRequests: Bool

    /// What an authorization request comes to before the user has seen it.
    private enum Reading {
        case accepted(LoginLedger.Request, state: String?)
        /// To the user: no redirect goes where nobody is registered (RFC 6749, section 4.1.2.1).
        case rejected(String)
        /// To the client.
        case refused(String, redirectURI: String, state: String?)
    }

    private var now: TimeInterval { ProcessInfo.processInfo.systemUptime }

    /// A request that the browser brings, or a reference to one that the client has sent before.
    private func reading(of query: String?, _ ledger: LoginLedger) -> Reading {
        if let form = FormFields(query: query), let reference = form["request_uri"] {
            guard let id = form["client_id"], let pushed = ledger.pushed(reference, clientID: id, at: now) else {
                return .rejected("The client has not sent this request, or its time has passed.")
            }
            return reading(of: pushed)
        }
        let reading = reading(of: query)
        guard requiresPushedRequests, case .accepted(let request, let state) = reading else { return reading }
        return .refused("invalid_request", redirectURI: request.redirectURI, state: state)
    }

    private func reading(of query: String?) -> Reading {
        guard let form = FormFields(query: query) else {
            return .rejected("The request has a parameter that is broken, or comes twice.")
        }
        guard let client = clients.first(where: { $0.id == form["client_id"] }) else {
            return .rejected("The client is not registered here.")
        }
        guard let redirectURI = form["redirect_uri"], client.isRegistered(redirectURI: redirectURI) else {
            return .rejected("The redirect URI is not one that is registered for the client.")
        }
        func refused(_ code: String) -> Reading { .refused(code, redirectURI: redirectURI, state: form["state"]) }
        guard form["response_type"] == "code" else { return refused("unsupported_response_type") }
        guard form["code_challenge_method"] == "S256", let challenge = form["code_challenge"],
            challenge.utf8.count == 43
        else { return refused("invalid_request") }
        // No user is ever logged in here.
        guard form["prompt"] != "none" else { return refused("login_required") }
        let request = LoginLedger.Request(
            clientID: client.id,
            redirectURI: redirectURI,
            challenge: challenge,
            thumbprint: form["dpop_jkt"]
        )
        return .accepted(request, state: form["state"])
    }

    /// RFC 9126, section 2.
    func push(
        _ request: HTTPRequest,
        of client: AuthorizationServerClient,
        boundTo thumbprint: String?,
        _ ledger: inout LoginLedger
    ) -> HTTPResponse {
        var query = String(decoding: request.body, as: UTF8.self)
        guard let form = FormFields(query: query), form["request_uri"] == nil else {
            return .failure(400, "invalid_request")
        }
        // The client may have named itself in the header only.
        if form["client_id"] == nil {
            query += "&client_id=" + (client.id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        if let thumbprint, form["dpop_jkt"] == nil { query += "&dpop_jkt=\(thumbprint)" }
        switch reading(of: query) {
        case .rejected: return .failure(400, "invalid_request")
        case .refused(let code, _, _): return .failure(400, code)
        case .accepted(let request, _) where request.clientID != client.id: return .failure(400, "invalid_request")
        case .accepted: break
        }
        let reference = ledger.push(query, clientID: client.id, at: now)
        let lifetime = Int(LoginLedger.pushLifetime)
        return HTTPResponse(status: 201, json: #"{"request_uri":"\#(reference)","expires_in":\#(lifetime)}"#)
    }

    func authorizationPage(_ query: String?, _ ledger: LoginLedger, issuer: String) -> HTTPResponse {
        switch reading(of: query, ledger) {
        case .rejected(let why): return rejection(why)
        case .refused(let code, let redirectURI, let state):
            return .redirect(to: Self.location(redirectURI, ["error": code], state, issuer))
        case .accepted(let request, _):
            let hidden = "<input type=\"hidden\" name=\"request\" value=\"\(WebPage.escaped(query ?? ""))\">"
            let who = "<p><code>\(WebPage.escaped(request.clientID))</code> asks to act for you.</p>"
            return .page(200, WebPage("Who are you?", who + Self.form(Self.authorizationPath, hidden)).html)
        }
    }

    /// What a user's decision comes to; `user` is who has agreed, and `nil` a refusal.
    typealias Decision = (response: HTTPResponse, user: String?, isDecided: Bool)

    /// The form of the page that ``authorizationPage(_:issuer:)`` shows.
    func decision(_ form: FormFields, _ ledger: inout LoginLedger, issuer: String) -> Decision {
        let user = form["user"] ?? Self.refusal
        return decision(on: form["request"], user: user == Self.refusal ? nil : user, &ledger, issuer: issuer)
    }

    func decision(on query: String?, user: String?, _ ledger: inout LoginLedger, issuer: String) -> Decision {
        let (request, state): (LoginLedger.Request, String?)
        switch reading(of: query, ledger) {
        case .accepted(let accepted, let text): (request, state) = (accepted, text)
        case .refused(let code, let redirectURI, let state):
            return (.redirect(to: Self.location(redirectURI, ["error": code], state, issuer)), nil, false)
        case .rejected(let why): return (rejection(why), nil, false)
        }
        let reference = FormFields(query: query)?["request_uri"]
        guard let user else {
            if let reference { ledger.spendPush(reference) }
            let location = Self.location(request.redirectURI, ["error": "access_denied"], state, issuer)
            return (.redirect(to: location), nil, true)
        }
        guard Self.users.contains(user) else { return (rejection("There is no such user."), nil, false) }
        if let reference { ledger.spendPush(reference) }
        let code = ledger.code(for: request, user: user, at: ProcessInfo.processInfo.systemUptime)
        return (.redirect(to: Self.location(request.redirectURI, ["code": code], state, issuer)), user, true)
    }

    /// RFC 8628, section 3.2.
    func deviceCodes(_ client: AuthorizationServerClient, _ ledger: inout LoginLedger, issuer: String) -> HTTPResponse {
        let codes = ledger.device(
            clientID: client.id,
            expiration: ProcessInfo.processInfo.systemUptime + TimeInterval(Self.deviceCodeLifetime)
        )
        let page = issuer + Self.devicePath
        return HTTPResponse(
            status: 200,
            json:
                #"{"device_code":"\#(codes.deviceCode)","user_code":"\#(codes.userCode)","verification_uri":"\#(page)","#
                + #""verification_uri_complete":"\#(page)?user_code=\#(codes.userCode)","#
                + #""expires_in":\#(Self.deviceCodeLifetime),"interval":\#(deviceInterval)}"#
        )
    }

    func devicePage(_ query: String?) -> HTTPResponse {
        let code = FormFields(query: query)?["user_code"] ?? ""
        let input =
            "<label>The code that your device shows <input name=\"user_code\" autocapitalize=\"characters\" "
            + "autocomplete=\"off\" required value=\"\(WebPage.escaped(code))\"></label>"
        return .page(200, WebPage("Connect a device", Self.form(Self.devicePath, input)).html)
    }

    func deviceDecision(_ form: FormFields, _ ledger: inout LoginLedger) -> Decision {
        let user = form["user"] ?? Self.refusal
        guard let code = form["user_code"], user == Self.refusal || Self.users.contains(user) else {
            return (rejection("The form is not one of this server."), nil, false)
        }
        let decided: String? = user == Self.refusal ? nil : user
        guard ledger.decide(userCode: code, user: decided, at: ProcessInfo.processInfo.systemUptime) else {
            return (rejection("No device waits under this code. Look at the code that it shows."), nil, false)
        }
        let text = decided == nil ? "The device was refused." : "The device is connected."
        return (.page(200, WebPage(text, "<p>You can close this window.</p>").html), decided, true)
    }

    private func rejection(_ why: String) -> HTTPResponse {
        .page(400, WebPage("This does not work", "<p>\(WebPage.escaped(why))</p>").html)
    }

    /// A button for each user, and one that refuses.
    private static func form(_ path: String, _ fields: String) -> String {
        let buttons = users.map { "<button name=\"user\" value=\"\($0)\">I am \($0), and I agree</button>" }
        return """
            <form method="post" action="\(path)">
            \(fields)
            \(buttons.joined(separator: "\n"))
            <button class="quiet" name="user" value="\(refusal)">Refuse</button>
            </form>
            """
    }

    /// The redirect URI with parameters (RFC 6749, section 4.1.2; RFC 9207).
    private static func location(
        _ redirectURI: String,
        _ parameters: KeyValuePairs<String, String>,
        _ state: String?,
        _ issuer: String
    ) -> String {
        let all = parameters.map { ($0.key, $0.value) } + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
        let query = all.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + query.joined(separator: "&")
    }
}
