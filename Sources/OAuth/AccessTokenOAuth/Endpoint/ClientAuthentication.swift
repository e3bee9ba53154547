import AccessTokenSynchronization
import Foundation

/// How a client proves to the token endpoint who it is (RFC 6749, section 2.3).
///
/// One method per request, and never a second one by itself: some servers revoke a refresh token that comes with the
/// wrong client authentication. Use the method that the client was registered with.
///
/// It never prints a secret.
public struct ClientAuthentication: Sendable {
    /// What of a request is the client's.
    struct Proof: Sendable {
        var authorization: String?
        var parameters: [FormParameter] = []
        /// Secrets that are not the value of a parameter.
        var secrets: [String] = []
    }

    private let method: String
    /// Empty where the server takes it from the assertion alone.
    let clientID: String
    /// Whether each request has the identifier in its body.
    var isNamedInBody: Bool { !method.hasPrefix("basic") && !clientID.isEmpty }
    /// What goes into one request.
    let proof: @Sendable (_ deadline: TimeInterval, _ clock: any AccessTokenClock) async throws -> Proof

    /// A public client, as apps are: its identifier in the body, and no secret (RFC 6749, section 3.2.1).
    public static func none(clientID: String) -> ClientAuthentication {
        ClientAuthentication(method: "none", clientID: clientID) { _, _ in
            Proof(parameters: [FormParameter("client_id", clientID)])
        }
    }

    /// HTTP Basic with identifier and secret form-encoded first, as RFC 6749, section 2.3.1, has it.
    ///
    /// Servers that do not decode them need ``basicRaw(clientID:secret:)``; the two differ only if the identifier or
    /// the secret has other characters than letters, digits, `-`, `.`, `_` and `~`.
    public static func basic(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(method: "basic", clientID: clientID) { _, _ in
            Proof(user: FormEncoding.encoded(clientID), password: FormEncoding.encoded(secret), hiding: secret)
        }
    }

    /// HTTP Basic with identifier and secret as they are, for servers that do not decode them (RFC 7617, section 2).
    ///
    /// The identifier must not have a colon.
    public static func basicRaw(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(method: "basicRaw", clientID: clientID) { _, _ in
            Proof(user: clientID, password: secret, hiding: secret)
        }
    }

    /// Identifier and secret in the body (RFC 6749, section 2.3.1), for servers that cannot do HTTP Basic.
    public static func postBody(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(method: "postBody", clientID: clientID) { _, _ in
            let secret = FormParameter("client_secret", secret, isSecret: true)
            return Proof(parameters: [FormParameter("client_id", clientID), secret])
        }
    }

    /// Identifier and secret in the body, with a secret that is made for each request.
    ///
    /// - Parameters:
    ///   - clientID: the client's identifier.
    ///   - make: makes the secret, such as the signed one of Sign in with Apple. Its error reaches the caller unchanged,
    ///     and nothing is sent; nor is it, with ``OAuthError/assertionTimedOut``, when the endpoint's deadline passes
    ///     first.
    public static func postBody(
        clientID: String,
        secret make: @escaping @Sendable () async throws -> String
    ) -> ClientAuthentication {
        ClientAuthentication(method: "postBody", clientID: clientID) { deadline, clock in
            let secret = FormParameter(
                "client_secret",
                try await made(within: deadline, by: clock, make),
                isSecret: true
            )
            return Proof(parameters: [FormParameter("client_id", clientID), secret])
        }
    }

    /// A signed assertion in the body (RFC 7521, section 4.2, and RFC 7523, section 2.2).
    ///
    /// - Parameters:
    ///   - clientID: sent beside the assertion; `nil` where the server takes it from the assertion alone.
    ///   - type: the kind of assertion; a JSON Web Token if nothing is said.
    ///   - make: makes one for each request, since servers accept an assertion once and for a short time. Its error
    ///     reaches the caller unchanged, and nothing is sent; nor is it, with ``OAuthError/assertionTimedOut``, when
    ///     the endpoint's deadline passes first.
    public static func assertion(
        clientID: String?,
        type: String = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        make: @escaping @Sendable () async throws -> String
    ) -> ClientAuthentication {
        ClientAuthentication(method: "assertion", clientID: clientID ?? "") { deadline, clock in
            let assertion = try await made(within: deadline, by: clock, make)
            return Proof(parameters: [
                FormParameter("client_id", clientID ?? ""), FormParameter("client_assertion_type", type),
                FormParameter("client_assertion", assertion, isSecret: true),
            ])
        }
    }
}

extension ClientAuthentication.Proof {
    fileprivate init(user: String, password: String, hiding secret: String) {
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        self.init(authorization: "Basic " + encoded, secrets: [secret, encoded])
    }
}

extension ClientAuthentication: CustomStringConvertible, CustomReflectable {
    /// The method and the client's identifier, and never a secret.
    public var description: String { "ClientAuthentication(\(method), clientID: \(clientID))" }

    /// A mirror without the secret: `dump` does not print it.
    public var customMirror: Mirror {
        Mirror(self, children: ["clientID": clientID], displayStyle: .struct)
    }
}
