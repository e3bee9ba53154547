import Dispatch
import Foundation
import LoopbackAuthorizationServer

/// The loopback authorization server as a program of its own, for tools in another process or language.
@main
struct LoopbackServer {
    private static let usage = """
        usage: loopback-server [--port N] [--client-id ID] [--lifetime SECONDS] [--grace SECONDS]
                               [--redirect-uri URI]... [--pushed-requests required]
                               [--dpop NONCE-USES | --dpop once]

        An authorization server for tests, on 127.0.0.1: code with PKCE, device code, refresh tokens that rotate.
        It prints its addresses as NAME=value, then a line for each event, and runs until it is interrupted.

          --port N              the port; any free one if nothing is said
          --client-id ID        the one client, which has no secret (loopback-client)
          --lifetime SECONDS    the life of an access token (3600)
          --grace SECONDS       for how long a spent refresh token is answered again (0)
          --redirect-uri URI    where the client may send the browser; this machine at any port,
                                with the path /callback, if nothing is said
          --pushed-requests required
                                a login has to send its request before the browser opens (RFC 9126)
          --dpop NONCE-USES     asks for proofs of possession (RFC 9449), with a new nonce after so many of them;
                                0 keeps the first nonce, and once takes no nonce for a second proof

        """

    static func main() {
        var port: UInt16 = 0
        var (lifetime, grace) = (3600, 0)
        var clientID = RotatingAuthorizationServer.clientID
        var redirectURIs: [String] = []
        var requiresPushedRequests = false
        var proofs: ProofDemand?
        var rest = CommandLine.arguments.dropFirst()
        while let option = rest.popFirst() {
            guard option != "--help", option != "-h" else { return print(usage, terminator: "") }
            guard let value = rest.popFirst() else { fail(option) }
            switch (option, Int(value)) {
            case ("--port", let number?) where (0...65_535).contains(number): port = UInt16(number)
            case ("--lifetime", let number?) where number >= 0: lifetime = number
            case ("--grace", let number?) where number >= 0: grace = number
            case ("--client-id", _) where !value.isEmpty: clientID = value
            case ("--dpop", _) where value == "once": proofs = ProofDemand(nonceUses: 1, takesFormerNonce: false)
            case ("--dpop", let number?) where number >= 0: proofs = ProofDemand(nonceUses: number)
            case ("--redirect-uri", _): redirectURIs.append(value)
            case ("--pushed-requests", _) where value == "required": requiresPushedRequests = true
            default: fail(option)
            }
        }
        let client = AuthorizationServerClient.public(
            clientID,
            redirectURIs: redirectURIs.isEmpty ? nil : redirectURIs
        )
        do {
            let server = try RotatingAuthorizationServer(
                port: port,
                clients: [client],
                lifetime: lifetime,
                grace: TimeInterval(grace),
                requiresPushedRequests: requiresPushedRequests,
                proofs: proofs,
                onEvent: { say("\($0)") }
            )
            say(
                """
                ISSUER=\(server.issuer.absoluteString)
                CLIENT_ID=\(client.id)
                AUTHORIZATION_ENDPOINT=\(server.authorizationEndpoint)
                TOKEN_ENDPOINT=\(server.tokenEndpoint)
                PUSHED_AUTHORIZATION_ENDPOINT=\(server.pushedAuthorizationEndpoint)
                DEVICE_AUTHORIZATION_ENDPOINT=\(server.deviceAuthorizationEndpoint)
                REVOCATION_ENDPOINT=\(server.revocationEndpoint)
                RESOURCE=\(server.resource)
                """
            )
            withExtendedLifetime(server) { dispatchMain() }
        } catch {
            FileHandle.standardError.write(Data("loopback-server: \(error). Is port \(port) in use?\n".utf8))
            exit(71)
        }
    }

    /// At once, also into a file or a pipe.
    private static func say(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }

    private static func fail(_ option: String) -> Never {
        FileHandle.standardError.write(Data("loopback-server: \(option) makes no sense here.\n\n\(usage)".utf8))
        exit(64)
    }
}
