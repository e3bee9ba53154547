import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `notes login`, `notes login --device`, `notes list`, `notes logout`.
@main
struct NotesTool {
    private let server: AuthorizationServer
    private let endpoint: TokenEndpoint
    private let store: FileCredentialStore
    private let loader: OAuthLoader
    private let notesURL: URL

    /// Most OpenID providers give a refresh token for `offline_access` only, and the login ends with its first token.
    private static let scope = "offline_access"

    /// No capital letters: a file system may take `A` and `a` for one.
    private static let plainCharacters = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789.-")

    /// What the server's documentation says: discovery would cost each run of the tool a request.
    private init() throws {
        let settings = ProcessInfo.processInfo.environment
        guard let base = URL(string: settings["NOTES_SERVER"] ?? "https://notes.example") else {
            throw ToolError(64, "NOTES_SERVER is not a URL.")
        }
        server = AuthorizationServer(
            issuer: URL(string: base.absoluteString),
            authorizationURL: base.appendingPathComponent("authorize"),
            tokenURL: base.appendingPathComponent("token"),
            deviceAuthorizationURL: base.appendingPathComponent("device_authorization"),
            revocationURL: base.appendingPathComponent("revoke")
        )
        endpoint = try server.tokenEndpoint(.none(clientID: "notes"))
        let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".config")
        // The XDG specification says so: an empty value counts as none, and a relative path is ignored.
        let folder =
            settings["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil } ?? home
        // A folder for each server, by its whole URL: a token of one must not go to another.
        let name = base.absoluteString.addingPercentEncoding(withAllowedCharacters: Self.plainCharacters) ?? ""
        store = FileCredentialStore(folder: folder.appendingPathComponent("notes/session-\(name)"))
        loader = OAuthLoader(endpoint: endpoint, store: store)
        notesURL = base.appendingPathComponent("resource")
    }

    private func logIn(onOtherDevice: Bool) async throws {
        let response: TokenResponse
        if onOtherDevice {
            let login = try await DeviceLogin(at: server, with: endpoint, scope: Self.scope)
            say("On any device, open \(login.verificationURL.absoluteString) and enter the code \(login.userCode)")
            response = try await login.response()
        } else {
            let login = try LoopbackLogin(at: server, clientID: "notes", scope: Self.scope)
            say("Your browser opens. If it does not, open this address, or use notes login --device:")
            say(login.url.absoluteString)
            let grant = try await login.grant()
            do {
                response = try await endpoint.exchange(grant)
            } catch let error as OAuthError where error.requiresSignIn || error.sessionMayBeSpent {
                throw ToolError(77, "Nobody was logged in.")  // The former session goes on.
            }
        }
        try await loader.signIn(Credential(response))
        say("You are logged in.")
        if response.refreshToken == nil { say("The server gave no refresh token: this login will end soon.") }
    }

    private func list() async throws {
        let tokens = AsyncAccessTokenService(loader: loader)
        let session = AsyncBearerSession(tokens: tokens, origins: [notesURL])
        do {
            let (data, response) = try await session.data(for: URLRequest(url: notesURL))
            switch (response as? HTTPURLResponse)?.statusCode {
            case 200: say(String(decoding: data, as: UTF8.self))
            case 401: throw AccessTokenError.signedOut
            case let status:
                throw ToolError(75, "The server does not give the notes (\(status ?? 0)). Try again later.")
            }
        } catch let error as OAuthError where error.isTransient {
            // The request may be on its way still. Where a process ends before its reply, the next run sends the same
            // refresh token once more. This waits for the reply, up to two minutes.
            _ = try? await store.update { _ in .keep }
            throw error
        } catch AccessTokenError.signedOut {
            // A login without a refresh token ends with its first access token, which is still there.
            guard let left = try await store.load(), left.credential.refreshToken == nil else {
                throw AccessTokenError.signedOut
            }
            throw ToolError(
                77,
                "Your login has expired, since the server gave no refresh token. Does it want the scope offline_access? "
                    + "Run: notes login"
            )
        }
    }

    private func logOut() async throws {
        try await loader.endSession()
        say("You are logged out.")
    }

    static func main() async {
        do {
            switch CommandLine.arguments.dropFirst() {
            case ["login"]: try await NotesTool().logIn(onOtherDevice: false)
            case ["login", "--device"]: try await NotesTool().logIn(onOtherDevice: true)
            case ["list"]: try await NotesTool().list()
            case ["logout"]: try await NotesTool().logOut()
            default: throw ToolError(64, "Say one of: notes login [--device], notes list, notes logout.")
            }
        } catch {
            let failure = ToolError(telling: error)
            FileHandle.standardError.write(Data("notes: \(failure.text)\n".utf8))
            exit(failure.exitCode)
        }
    }
}

/// What an end user is told, with an exit code of `sysexits.h`.
private struct ToolError: Error {
    let exitCode: Int32
    let text: String

    init(_ exitCode: Int32, _ text: String) { (self.exitCode, self.text) = (exitCode, text) }

    init(telling error: any Error) {
        switch error {
        case let own as ToolError: self = own
        case let left as UnfinishedSignOut: self.init(telling: left)
        case AccessTokenError.signedOut: self.init(77, "You are not logged in. Run: notes login")
        case let error as OAuthError where error.requiresSignIn || error.sessionMayBeSpent:
            self.init(77, "Your login has ended. Run: notes login")
        case let error as OAuthError where error.isTransient:
            self.init(75, "The server cannot be reached. Try again later.")
        case let error as LoginError where error.isDenied: self.init(77, "Nobody was logged in.")
        case let error as LoginError where error.isTransient:
            self.init(75, "No login is possible now. Try again later.")
        case is URLError: self.init(75, "The server cannot be reached. Try again later.")
        case CredentialStoreError.busy: self.init(75, "Another run of notes is at work. Try again in a moment.")
        case let error as CredentialStoreError: self.init(73, "\(error)")
        default: self.init(70, "This is a mistake of the tool; please report it: \(error)")
        }
    }

    /// A second logout removes what is left here; only the user can tell the server.
    init(telling left: UnfinishedSignOut) {
        let there = "The server could not be told: end this login in your account there."
        guard let error = left.store else {
            self.init(75, "You are logged out on this machine. \(there)")
            return
        }
        let here = ToolError(telling: error)
        let text = "The login is still on this machine. Run: notes logout, once more. \(here.text)"
        self.init(here.exitCode, left.server == nil ? text : "\(text) \(there)")
    }
}

/// At once, also into a pipe.
private func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
