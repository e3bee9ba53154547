import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import SampleShared

/// The friends screen of an app, whose token has expired: with a naive token service, with one that shares a task, and
/// with this package's.
@main
enum FriendsSample {
    static func main() async {
        for kind in ServiceKind.allCases {
            print(title(kind.rawValue, of: await FriendsScreen.log(kind)))
        }
        print(
            """
            A server that rotates refresh tokens refuses the second refresh, and may end the session: see
            swift run token-tour. The shared task does it once for two callers that come at once; more callers break it:
            swift run race-gallery authentication-service version-2-four-callers
            """
        )
    }

    private static func title(_ title: String, of log: [String]) -> String {
        let lines = log.enumerated().map { String(format: "%2d  ", $0 + 1) + $1 }
        let refreshes = log.count { $0 == Step.sends.rawValue }
        return ([title] + lines + ["refreshes: \(refreshes)", ""]).joined(separator: "\n")
    }
}

/// The services that the screen is run with.
enum ServiceKind: String, CaseIterable {
    case naive = "the naive service"
    case sharedTask = "a service that shares a task"
    case guarded = "AsyncAccessTokenService"
}

/// The six steps of the work for a token.
enum Step: String, CaseIterable {
    case reads = "looks for a credential in the keychain"
    case finds = "finds the credential"
    case checks = "finds that it has expired"
    case sends = "sends the refresh token"
    case receives = "receives a new credential"
    case stores = "stores it in the keychain"
}

/// A user service and a friends service, which need one token at the same moment.
enum FriendsScreen {
    /// What happens until both services have answered.
    static func log(_ kind: ServiceKind) async -> [String] {
        let server = AuthorizationServer(rotates: false)
        let keychain = Keychain()
        let fresh = server.signIn(user: 1)
        keychain.credential = Credential(
            accessToken: fresh.accessToken,
            expiresAt: .distantPast,
            refreshToken: fresh.refreshToken
        )
        let log = Log()
        let loader = LoggingLoader(exchange: server.exchange, keychain: keychain, log: log)
        let (joins, join) = AsyncStream.makeStream(of: Void.self)
        let service = AsyncAccessTokenService(loader: loader) { if $0.kind == .joined { join.yield() } }
        let sharedTask = SharedTaskService(loader: loader) { join.yield() }
        let token: @Sendable () async throws -> AccessToken = {
            switch kind {
            case .naive: try await loader.load(replacing: nil)  // The whole work for each caller.
            case .sharedTask: try await sharedTask.token()
            case .guarded: try await service.token()
            }
        }

        // The server answers when both services wait: for one refresh, or for two.
        server.hold()
        let api = API(authorization: server)
        async let user: Void = log.show("the user") { [try await api.user(bearer: token().value)] }
        async let friends: Void = log.show("the friends") { try await api.friends(bearer: token().value) }
        await server.waitForHeld(kind == .naive ? 2 : 1)
        if kind != .naive { _ = await joins.first { _ in true } }
        await server.release()
        _ = await (user, friends)
        return log.lines
    }
}

/// One task for all callers, which each of them clears: enough for two callers that come at once, and not for more.
private actor SharedTaskService {
    private let loader: LoggingLoader
    private let onJoin: @Sendable () -> Void
    private var task: Task<AccessToken, any Error>?

    init(loader: LoggingLoader, onJoin: @escaping @Sendable () -> Void) {
        (self.loader, self.onJoin) = (loader, onJoin)
    }

    func token() async throws -> AccessToken {
        if task != nil { onJoin() }
        let task = self.task ?? Task { try await loader.load(replacing: nil) }
        self.task = task
        defer { self.task = nil }
        return try await task.value
    }
}

private struct LoggingLoader: AsyncAccessTokenLoader {
    let exchange: AsyncExchange
    let keychain: Keychain
    let log: Log

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        log.add(.reads)
        guard let sent = keychain.credential else { throw AccessTokenError.signedOut }
        log.add(.finds)
        if sent.expiresAt > .now { return AccessToken(value: sent.accessToken, expiration: sent.expiresAt) }
        log.add(.checks)
        log.add(.sends)
        let new = try await exchange(sent.refreshToken)
        log.add(.receives)
        keychain.credential = new
        log.add(.stores)
        return AccessToken(value: new.accessToken, expiration: new.expiresAt)
    }
}

private final class Log: Sendable {
    private let state = Locked<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func add(_ step: Step) {
        add(step.rawValue)
    }

    private func add(_ line: String) {
        state.withLock { $0.append(line) }
    }

    func show(_ name: String, _ request: @Sendable () async throws -> [String]) async {
        add("asks for \(name)")
        do {
            add("shows \(name): \(try await request().joined(separator: ", "))")
        } catch {
            add("cannot show \(name): \(error)")
        }
    }
}
