import AccessTokenAsync
import Synchronization

enum AsyncCode {
    actor RotatingLoader: AsyncAccessTokenLoader {
        private let endpoint: YourEndpoint
        private var refreshToken: String?

        init(endpoint: YourEndpoint, refreshToken: String?) {
            self.endpoint = endpoint
            self.refreshToken = refreshToken
        }

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            guard let sent = refreshToken else { throw AccessTokenError.signedOut }
            do {
                let reply = try await endpoint.exchange(sent)
                if refreshToken == sent { refreshToken = reply.refreshToken ?? sent }
                return AccessToken(value: reply.value, expiration: reply.expiresAt)
            } catch YourEndpoint.Refusal.invalidGrant {
                if refreshToken == sent { refreshToken = nil }
                throw AccessTokenError.signedOut  // The session is over. Only a login helps.
            }
        }

        func signOut() { refreshToken = nil }

        /// A login begins a session.
        func begin(with refreshToken: String?) { self.refreshToken = refreshToken }
    }

    @MainActor
    final class LoginSession {
        let tokens: AsyncAccessTokenService
        private let loader: RotatingLoader
        private var last: Task<Void, Never>?

        init(loader: RotatingLoader) {
            self.loader = loader
            tokens = AsyncAccessTokenService(loader: loader)
        }

        func signIn(with reply: YourEndpoint.Token) async {
            let token = AccessToken(value: reply.value, expiration: reply.expiresAt)
            await inOrder { [loader, tokens] in
                await loader.begin(with: reply.refreshToken)
                await tokens.signIn(token)
            }
        }

        func signOut() async {
            await inOrder { [tokens] in await tokens.signOut() }
        }

        /// One at a time, in the order of the calls.
        private func inOrder(_ step: @escaping @Sendable () async -> Void) async {
            let former = last
            let task = Task {
                await former?.value
                await step()
            }
            last = task
            await task.value
        }
    }

    struct Friends: Sendable {
        let tokens: any AsyncAccessTokenProviding
        let server: FriendsServer

        func names() async throws -> [String] {
            let reply = try await tokens.withToken(isRejected: { $0.status == 401 }) { token in
                try await server.friends(bearer: token.value)
            }
            return reply.friends
        }
    }

    @MainActor
    final class LoginModel: AsyncAccessTokenLoader {
        private(set) var isRefreshing = false
        private let endpoint = YourEndpoint()

        @MainActor func load(replacing old: AccessToken?) async throws -> AccessToken {
            isRefreshing = true
            defer { isRefreshing = false }
            let reply = try await endpoint.requestToken()
            return AccessToken(value: reply.value, expiration: reply.expiresAt)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    final class RunningRequests: Sendable {
        private let count = Mutex(0)

        @inline(never)
        private func change(by number: Int) {
            count.withLock { $0 += number }
        }

        func send<Reply: Sendable>(_ request: @Sendable () async throws -> Reply) async throws -> Reply {
            change(by: 1)
            defer { change(by: -1) }
            return try await request()
        }
    }
}
