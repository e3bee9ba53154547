import AccessTokenOAuth
import Foundation
import Testing

/// A django-oauth-toolkit server that was started with the script in `Tests/AuthorizationServers`.
///
/// The environment says where it is: `DJANGO_OAUTH_TOOLKIT` is `PORT:STATE_FOLDER`. Without it its tests are skipped,
/// and say so.
struct DjangoServer: Sendable {
    struct ScriptFailed: Error {}

    static let present: DjangoServer? = {
        guard let place = ProcessInfo.processInfo.environment["DJANGO_OAUTH_TOOLKIT"] else { return nil }
        let parts = place.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let port = Int(parts[0]) else { return nil }
        return DjangoServer(port: port, stateFolder: String(parts[1]))
    }()

    let port: Int
    let stateFolder: String

    var resource: URL {
        get throws { try url("resource") }
    }

    func endpoint(_ authentication: ClientAuthentication) throws -> TokenEndpoint {
        TokenEndpoint(
            try url("o/token/"),
            authentication: authentication,
            revocationURL: try url("o/revoke_token/")
        )
    }

    /// Signs a user in: a code and its verifier as a grant.
    func authorize(_ client: String) throws -> TokenGrant {
        // The other systems can start no process; nobody runs this server for them.
        #if os(macOS) || os(Linux)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../AuthorizationServers/django-oauth-toolkit/authorize.sh").standardized
        let output = Pipe()
        let process = Process()
        process.executableURL = script
        process.arguments = ["\(port)", client]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let words = text.split(whereSeparator: \.isWhitespace)
        guard process.terminationStatus == 0, words.count == 2 else { throw ScriptFailed() }
        return try .authorizationCode(
            String(words[0]),
            redirectURI: "http://127.0.0.1/cb",
            codeVerifier: String(words[1])
        )
        #else
        throw ScriptFailed()
        #endif
    }

    /// How many requests its token endpoint has answered.
    var tokenRequests: Int {
        get throws {
            let log = try String(contentsOfFile: stateFolder + "/access.log", encoding: .utf8)
            return log.split(separator: "\n").count { $0.contains("POST /o/token/") }
        }
    }

    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)/\(path)"))
    }
}
