import AccessTokenCore
import Foundation

/// How a client proves to the token endpoint who it is (RFC 6749, section 2.3).
///
/// One method per request, and never a second one by itself: some servers revoke a refresh token that comes with the
/// wrong client authentication. Use the method that the client was registered with.
///
/// It never prints a secret.
public struct ClientAuthentication: Sendable {
    private enum Method: Sendable {
        case none
        case basic(secret: String)
        case basicRaw(secret: String)
        case postBody(secret: String)
        case assertion(type: String, make: @Sendable () async throws -> String)
    }

    /// What of a request is the client's.
    struct Proof {
        var authorization: String?
        var parameters: [FormParameter] = []
        /// Secrets that are not the value of a parameter.
        var secrets: [String] = []
    }

    private let clientID: String
    private let method: Method

    /// A public client, as apps are: its identifier in the body, and no secret (RFC 6749, section 3.2.1).
    public static func none(clientID: String) -> ClientAuthentication {
        ClientAuthentication(clientID: clientID, method: .none)
    }

    /// HTTP Basic with identifier and secret form-encoded first, as RFC 6749, section 2.3.1, has it.
    ///
    /// Servers that do not decode them need ``basicRaw(clientID:secret:)``; the two differ only if the identifier or
    /// the secret has other characters than letters, digits, `-`, `.`, `_` and `~`.
    public static func basic(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(clientID: clientID, method: .basic(secret: secret))
    }

    /// HTTP Basic with identifier and secret as they are, for servers that do not decode them (RFC 7617, section 2).
    ///
    /// The identifier must not have a colon.
    public static func basicRaw(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(clientID: clientID, method: .basicRaw(secret: secret))
    }

    /// Identifier and secret in the body (RFC 6749, section 2.3.1), for servers that cannot do HTTP Basic.
    public static func postBody(clientID: String, secret: String) -> ClientAuthentication {
        ClientAuthentication(clientID: clientID, method: .postBody(secret: secret))
    }

    /// A signed assertion in the body (RFC 7521, section 4.2, and RFC 7523, section 2.2).
    ///
    /// - Parameters:
    ///   - clientID: sent beside the assertion; `nil` where the server takes it from the assertion alone.
    ///   - type: the kind of assertion; a JSON Web Token if nothing is said.
    ///   - make: makes one for each request, since servers accept an assertion once and for a short time. Its error
    ///     reaches the caller unchanged, and nothing is sent; nor is it, with ``OAuthError/assertionTimedOut``, when the
    ///     endpoint's deadline passes first.
    public static func assertion(
        clientID: String?,
        type: String = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        make: @escaping @Sendable () async throws -> String
    ) -> ClientAuthentication {
        ClientAuthentication(clientID: clientID ?? "", method: .assertion(type: type, make: make))
    }

    /// What goes into one request.
    func proof(within deadline: TimeInterval, by clock: any AccessTokenClock) async throws -> Proof {
        let identifier = FormParameter("client_id", clientID)
        switch method {
        case .none:
            return Proof(parameters: [identifier])
        case .basic(let secret):
            return basicProof(FormEncoding.encoded(clientID), FormEncoding.encoded(secret), hiding: secret)
        case .basicRaw(let secret):
            return basicProof(clientID, secret, hiding: secret)
        case .postBody(let secret):
            return Proof(parameters: [identifier, FormParameter("client_secret", secret, isSecret: true)])
        case .assertion(let type, let make):
            // The app's own code may never come back, and the load that waits for it holds the store.
            let making = OutstandingExchange<Result<String, any Error>> { _, _ in }
            Task {
                do { making.settle(.success(try await make())) } catch { making.settle(.failure(error)) }
            }
            guard let made = await making.reply(within: deadline, by: clock) else { throw OAuthError.assertionTimedOut }
            let assertion = try made.get()
            return Proof(parameters: [
                identifier, FormParameter("client_assertion_type", type),
                FormParameter("client_assertion", assertion, isSecret: true),
            ])
        }
    }

    private func basicProof(_ user: String, _ password: String, hiding secret: String) -> Proof {
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        return Proof(authorization: "Basic " + encoded, secrets: [secret, encoded])
    }
}

extension ClientAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the client's identifier, and never a secret.
    public var description: String {
        let name =
            switch method {
            case .none: "none"
            case .basic: "basic"
            case .basicRaw: "basicRaw"
            case .postBody: "postBody"
            case .assertion: "assertion"
            }
        return "ClientAuthentication(\(name), clientID: \(clientID))"
    }

    /// The same as `description`: debuggers and test failures print no secrets either.
    public var debugDescription: String { description }

    /// A mirror without the secret: `dump` does not print it.
    public var customMirror: Mirror {
        Mirror(self, children: ["clientID": clientID], displayStyle: .struct)
    }
}
