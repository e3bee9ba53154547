import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that others wrote, installed and started by the scripts in `Tests/OAuth/AuthorizationServers`.
///
/// The environment says where it is: `DJANGO_OAUTH_TOOLKIT`, `OIDC_PROVIDER_MOCK`, `AUTHGENT_SERVER` and `IDPYOIDC` are
/// `PORT:STATE_FOLDER`. Without them its tests are skipped, and say so.
struct RealServer: Sendable, CustomTestStringConvertible {
    static let command = ".ci/deep servers installs the servers, starts them and runs these tests"

    static let django = RealServer("django-oauth-toolkit")
    static let mock = RealServer("oidc-provider-mock")
    static let all = [django, mock].compactMap(\.self)
    /// It takes no request without a proof of possession.
    static let authgent = RealServer("authgent-server")
    /// It takes pushed requests.
    static let idpyoidc = RealServer("idpyoidc")

    let name: String
    let port: UInt16
    private let stateFolder: String

    private init?(_ name: String) {
        let variable = name.uppercased().replacing("-", with: "_")
        let place = ProcessInfo.processInfo.environment[variable] ?? ""
        let parts = place.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let port = UInt16(parts[0]) else { return nil }
        self.name = name
        self.port = port
        stateFolder = String(parts[1])
    }

    private var isDjango: Bool { name == "django-oauth-toolkit" }
    private var tokenPath: String { isDjango ? "o/token/" : "oauth2/token" }
    private var authorizationPath: String { isDjango ? "o/authorize/" : "oauth2/authorize" }
    private var revocationPath: String? { isDjango ? "o/revoke_token/" : nil }
    private var clientID: String { isDjango ? "public" : "app" }

    /// How the client of most tests proves itself.
    private var authentication: ClientAuthentication {
        isDjango ? .none(clientID: clientID) : .basic(clientID: clientID, secret: "any")
    }

    var testDescription: String { name }
    var rotates: Bool { isDjango }
    var revokes: Bool { revocationPath != nil }

    var resource: URL {
        get throws { try url(isDjango ? "resource" : "userinfo", port) }
    }

    /// - Parameter proxy: what stands before it, if anything does.
    func endpoint(
        _ authentication: ClientAuthentication? = nil,
        by proxy: ScriptedServer? = nil,
        clock: (any AccessTokenClock)? = nil
    ) throws -> TokenEndpoint {
        let port = try proxy?.url.port.map(UInt16.init) ?? port
        return TokenEndpoint(
            try url(tokenPath, port),
            authentication: authentication ?? self.authentication,
            revocationURL: try revocationPath.map { try url($0, port) },
            deadline: TokenEndpoint.deadline(by: clock),
            clock: clock ?? SystemClock()
        )
    }

    /// Where its endpoints are; `AuthorizationServer.discover` finds those of a server that has metadata.
    var authorizationServer: AuthorizationServer {
        get throws {
            AuthorizationServer(
                authorizationURL: try url(authorizationPath, port),
                tokenURL: try url(tokenPath, port),
                deviceAuthorizationURL: isDjango ? try url("o/device-authorization/", port) : nil,
                revocationURL: try revocationPath.map { try url($0, port) }
            )
        }
    }

    /// Signs a user in: the code that the browser brings back, as a grant.
    func authorize(_ client: String? = nil, at found: AuthorizationServer? = nil) async throws -> TokenGrant {
        let login = try AuthorizationCodeLogin(
            at: try found ?? authorizationServer,
            clientID: client ?? clientID,
            redirectURI: "http://127.0.0.1/cb",
            scope: isDjango ? "read write" : "openid email"
        )
        let words = try await script("authorize.sh", "\(port)", login.url.absoluteString)
        return try login.grant(from: try #require(words.first.flatMap { URL(string: $0) }))
    }

    /// What a user has who has just signed in.
    func signIn() async throws -> Credential {
        let grant = try await authorize()
        let before = try tokenRequests
        let credential = Credential(try await endpoint().exchange(grant))
        _ = await tokenRequests(since: before, expected: 1)
        return credential
    }

    /// How many requests its token endpoint has answered since then.
    ///
    /// Its log has the line after the client has the reply: this waits for as many lines as are expected.
    func tokenRequests(since before: Int, expected: Int) async -> Int {
        await yieldUntil { (try? tokenRequests).map { $0 - before >= expected } ?? true }
        return (try? tokenRequests).map { $0 - before } ?? -1
    }

    /// How many requests its token endpoint has answered, by its own log.
    var tokenRequests: Int {
        get throws {
            let log = try String(contentsOfFile: stateFolder + "/access.log", encoding: .utf8)
            return log.split(separator: "\n").count { $0.contains("POST /\(tokenPath) ") }
        }
    }

    /// The text of a file that its start script has left.
    func file(_ name: String) throws -> String {
        try String(contentsOfFile: "\(stateFolder)/\(name)", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the server as a power cut does.
    func kill() async throws {
        try await Script.run(folder.appending(path: "../stop.sh").standardized.path, [stateFolder, "KILL"])
    }

    /// Starts it again, with what was on its disk.
    ///
    /// - Parameter grace: seconds for which it takes a spent refresh token again.
    func startAgain(grace: Int = 0) async throws {
        try await Script.run(
            folder.appending(path: "start.sh").path,
            [stateFolder, "\(port)", "again"],
            environment: ["GRACE": "\(grace)", "ACCESS_TTL": "3600"],
            isDaemon: true
        )
    }

    /// Runs a script of its folder.
    @discardableResult
    func script(_ name: String, _ arguments: String...) async throws -> [String] {
        try await Script.run(folder.appending(path: name).path, arguments)
    }

    private var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../AuthorizationServers/\(name)").standardized
    }

    private func url(_ path: String, _ port: UInt16) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)/\(path)"))
    }
}

extension RealServer {
    /// The status of the server's own resource for this token.
    func status(for token: AccessToken) async throws -> Int {
        var request = URLRequest(url: try resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return try await withCheckedThrowingContinuation { continuation in
            EndpointTransport().send(request, limit: 60) { result in
                continuation.resume(with: result.map(\.status))
            }
        }
    }
}

/// A program that a test runs, and waits for.
enum Script {
    struct Failed: Error {
        let status: Int32
    }

    /// - Parameter isDaemon: whether it leaves a process behind, which would keep its output open for ever.
    /// - Returns: the words of its standard output, none of a daemon.
    @discardableResult
    static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        isDaemon: Bool = false
    ) async throws -> [String] {
        // The other systems can start no process, and have no servers.
        #if os(macOS) || os(Linux)
        let output = isDaemon ? nil : Pipe()
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output.map { $0 as Any } ?? FileHandle.nullDevice
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard status == 0 else { throw Failed(status: status) }
        guard let output else { return [] }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
        #else
        throw Failed(status: -1)
        #endif
    }
}
