import AccessTokenAdapters
import Foundation
import SampleShared
import Testing

@Suite("What the guide puts around code that an app has")
struct AroundYourCodeTests {
    private struct AtOnce: YourLoader {
        static let token = LegacyToken(value: "token", expiresAt: .distantFuture)

        func load(then handler: @escaping @Sendable (Result<LegacyToken, any Error>) -> Void) {
            handler(.success(Self.token))
        }
    }

    @Test func `a loader around yours brings its token, with its expiration`() async throws {
        let service = AccessTokenService(loader: LoaderAroundYours(loader: AtOnce()))
        let expected = AccessToken(value: AtOnce.token.value, expiration: AtOnce.token.expiresAt)
        #expect(try await service.token() == expected)
    }

    private struct NoNetwork: Error {}

    @Test func `a request in a continuation returns the reply, or throws the error`() async throws {
        #expect(try await YourAPI { .success(["friend of \($0)"]) }.friends(bearer: "a") == ["friend of a"])
        await #expect(throws: NoNetwork.self) { try await YourAPI { _ in .failure(NoNetwork()) }.friends(bearer: "a") }
    }
}
