import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

extension RealServerTests {
    @Suite("Two loads at once", .enabled(if: RealServer.django != nil, Comment(rawValue: RealServer.command)))
    struct ReuseTests {
        /// What many code bases have: read, exchange, write, and nothing that keeps two from doing so in turn.
        private struct NaiveLoader: AsyncAccessTokenLoader {
            let endpoint: TokenEndpoint
            let store: MemoryCredentialStore

            func load(replacing old: AccessToken?) async throws -> AccessToken {
                let credential = try #require(try await store.credential)
                let response = try await endpoint.exchange(.refreshToken(try #require(credential.refreshToken)))
                try await store.update { _ in .replace(Credential(response, renewing: credential)) }
                return response.accessToken
            }
        }

        /// Lets a second load begin when the server has carried out the first and the client has not heard of it.
        ///
        /// That is the moment at which harm is done: requests at the very same moment often get the same answer.
        private func loadTwice(
            _ make: (TokenEndpoint, MemoryCredentialStore) -> any AsyncAccessTokenLoader,
            _ body: (RealServer, [Result<AccessToken, any Error>], _ requests: Int) async throws -> Void
        ) async throws {
            let server = try #require(RealServer.django)
            let store = MemoryCredentialStore(try await server.signIn())
            let old = try await store.credential?.accessToken
            let (isCarriedOut, gate) = (Event(), Gate())
            let before = try server.tokenRequests
            try await withProxy(to: server, .holdReply(isCarriedOut, gate)) { proxy in
                let loader = make(try server.endpoint(by: proxy), store)
                let first = Task { try await loader.load(replacing: old) }
                await isCarriedOut.wait()
                let second = Task { try await loader.load(replacing: old) }
                // The second one is at the server, or it waits for the first one.
                if loader is NaiveLoader { _ = await second.result }
                gate.open()
                let results = [await first.result, await second.result]
                let expected = loader is NaiveLoader ? 2 : 1
                try await body(server, results, await server.tokenRequests(since: before, expected: expected))
            }
        }

        @Test func `of the naive kind are reuse to the server, which ends the session`() async throws {
            try await loadTwice {
                NaiveLoader(endpoint: $0, store: $1)
            } _: { server, results, requests in
                #expect(requests == 2)
                let token = try results[0].get()
                await refuses("invalid_grant") { _ = try results[1].get() }
                #expect(try await server.status(for: token) == 401)
            }
        }

        @Test func `of ours are one exchange, and the session lives on`() async throws {
            try await loadTwice {
                OAuthLoader(endpoint: $0, store: $1)
            } _: { server, results, requests in
                // The second one replaces the same token, and finds the one that the first one brought.
                #expect(requests == 1)
                let token = try results[0].get()
                #expect(try results[1].get() == token)
                #expect(try await server.status(for: token) == 200)
            }
        }
    }
}
