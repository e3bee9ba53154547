import AccessTokenSynchronization
public import Foundation

/// A login on another device: this one shows a code, and asks the server until the user has decided (RFC 8628).
///
/// ```swift
/// let login = try await DeviceLogin(at: server, with: endpoint, scope: "notes")
/// print("On any device, open \(login.verificationURL) and enter \(login.userCode)")
/// let response = try await login.response()
/// ```
///
/// It never prints the device code.
public struct DeviceLogin: Sendable {
    /// What the user types in, as the server writes it.
    public let userCode: String

    /// Where the user types it in.
    public let verificationURL: URL

    /// The same with the code in it, to be shown as a QR code; `nil` if the server has none.
    ///
    /// Show the ``userCode`` as well: the user compares them (RFC 8628, section 3.3.1).
    public let completeVerificationURL: URL?

    /// When the codes expire, by the endpoint's clock.
    public let expiration: Date

    private let endpoint: TokenEndpoint
    private let deviceCode: String
    private let interval: TimeInterval
    private let idToken: IDTokenCheck

    /// Asks the server for the codes (RFC 8628, section 3.1).
    ///
    /// **Cancellation** Does not end the request. The client assertion and the reply may each take the endpoint's deadline.
    ///
    /// **Failure** ``LoginError``; an error of the app's own client assertion, unchanged.
    ///
    /// - Parameters:
    ///   - server: needs an ``AuthorizationServer/deviceAuthorizationURL``.
    ///   - endpoint: the token endpoint of the client that logs in; its clock counts the time.
    ///   - scope: what to ask for; `nil` leaves that to the server. Most OpenID providers give a refresh token for
    ///     `offline_access` only.
    ///   - parameters: others, such as `resource` (RFC 8707).
    public init(
        at server: AuthorizationServer,
        with endpoint: TokenEndpoint,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:]
    ) async throws {
        let url = try server.usable(server.deviceAuthorizationURL, "device_authorization_endpoint")
        try server.check(endpoint.proofKeys)
        let form = [FormParameter("scope", scope ?? "")] + parameters.map { FormParameter($0.key, $0.value) }
        let exchange = OutstandingExchange<Result<DeviceAuthorization, LoginError>>()
        try await endpoint.send(form, to: url, limit: endpoint.deadline) { result, secrets in
            exchange.settle(
                result.mapError { .failed(.deviceEndpoint, $0) }.flatMap { reply in
                    DeviceAuthorization.read(reply, hiding: secrets)
                }
            )
        }
        guard let reply = await exchange.reply(within: endpoint.deadline, by: endpoint.clock) else {
            throw LoginError.failed(.deviceEndpoint, .timedOut)
        }
        let codes = try reply.get()
        userCode = codes.userCode
        do throws(LoginError) {
            verificationURL = try server.usable(codes.verificationURL, "verification_uri")
        } catch {
            throw LoginError.strangeReply(.deviceEndpoint, status: 200, "its verification_uri is not https")
        }
        completeVerificationURL = try? server.usable(codes.completeVerificationURL, "verification_uri_complete")
        expiration = endpoint.clock.now.addingTimeInterval(codes.lifetime)
        self.endpoint = endpoint
        deviceCode = codes.deviceCode
        interval = codes.interval
        idToken = IDTokenCheck(issuer: server.issuer?.absoluteString, clientID: endpoint.authentication.clientID)
    }

    /// Waits until the user has decided.
    ///
    /// The server is asked once in each interval, and less often when it says `slow_down` or cannot be reached. Nothing
    /// that may pass ends the wait: neither a lost connection nor a 503, nor a page in the server's place. Where the
    /// server has no word for "not yet", a bare 400, 403 or 428 means that: see ``TokenEndpoint/deviceFailureMapping``.
    ///
    /// A reply may be the token, which the server gives once. It is waited for as long as it can come: four times the
    /// endpoint's deadline.
    ///
    /// **Cancellation** Ends a pause at once with `CancellationError`. A request that is on its way is waited for: if it
    /// brings the token, that is returned.
    ///
    /// **Failure** ``LoginError``: ``LoginError/isDenied`` if the user refused or the code expired. If the server has
    /// refused until the code expired, ``LoginError/code`` and ``LoginError/serverExplanation`` tell its last refusal:
    /// it may have been meant for the client, and not the user. ``OAuthError`` for what the token endpoint refuses
    /// otherwise.
    public func response() async throws -> TokenResponse {
        let grant = TokenGrant.extensionGrant(
            TokenGrant.deviceCodeType,
            parameters: ["device_code": deviceCode]
        )
        // One key for all questions: it is that of the session.
        .bound(to: try endpoint.proofKeys?.make())
        .expecting(idToken)
        var polling = DevicePolling(interval: interval)
        var pause = interval
        while true {
            let rest = expiration.timeIntervalSince(endpoint.clock.now)
            try await endpoint.clock.pause(for: min(pause, max(0, rest)))
            guard endpoint.clock.now < expiration else { throw polling.expired }
            do {
                // A late reply may be the token, which the server gives once, and nobody else is there to take it.
                return try await endpoint.exchange(grant, within: nil)
            } catch let error as OAuthError {
                pause = try polling.pause(after: error)
            }
        }
    }
}

extension DeviceLogin: CustomStringConvertible, CustomReflectable {
    /// Where the user decides; never the device code.
    public var description: String {
        "DeviceLogin(\(WebOrigin(of: verificationURL)?.description ?? ""), userCode: \(userCode))"
    }

    /// A mirror without the device code: `dump` does not print it.
    public var customMirror: Mirror {
        Mirror(self, children: ["verificationURL": verificationURL, "userCode": userCode], displayStyle: .struct)
    }
}
