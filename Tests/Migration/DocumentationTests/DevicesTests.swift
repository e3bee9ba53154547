import AccessTokenContract
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import Testing

@Suite("A watch and a socket have the next token when they need it")
struct DevicesTests {
    @Test func `a watch gets the phone's token, and a new one for a token that was rejected`() async throws {
        let endpoint = YourEndpoint()
        let loader = AsyncCode.RotatingLoader(endpoint: endpoint, refreshToken: "first")
        let phone = AsyncAccessTokenService(loader: loader)
        let session = UUID()
        let asked = YourPhone(tokens: phone) { session }
        let watch = AsyncAccessTokenService(loader: PhoneLoader(phone: asked, session: session))
        let first = try await watch.token()
        #expect(first == phone.currentToken)
        await watch.invalidate(first)
        let second = try await watch.token()
        #expect(second != first)
        #expect(endpoint.requests == 2)

        // The phone was faster: its token is taken, and nothing is loaded for the watch.
        await phone.invalidate(second)
        let third = try await phone.token()
        await watch.invalidate(second)
        #expect(try await watch.token() == third)
        #expect(endpoint.requests == 3)
    }

    /// The phone has signed out and in again, and the watch was out of reach.
    @Test func `a watch does not get the token of the next user`() async throws {
        let loader = AsyncCode.RotatingLoader(endpoint: YourEndpoint(), refreshToken: "first")
        let session = Locked<UUID?>(UUID())
        let phone = YourPhone(tokens: AsyncAccessTokenService(loader: loader)) { session.withLock { $0 } }
        let former = PhoneLoader(phone: phone, session: try #require(phone.session()))
        let watch = AsyncAccessTokenService(loader: former)
        let token = try await watch.token()
        session.withLock { $0 = UUID() }
        await watch.invalidate(token)
        await #expect(throws: AccessTokenError.signedOut) { try await watch.token() }
        let next = PhoneLoader(phone: phone, session: try #require(phone.session()))
        #expect(try await AsyncAccessTokenService(loader: next).token() == token)
    }

    private struct HourLoader: AsyncAccessTokenLoader {
        let clock: ManualClock
        let count = Counter()

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            AccessToken(value: "token \(count.next())", expiration: clock.now + 3600)
        }
    }

    private final class Counter: Sendable {
        private let count = Locked(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private final class Told: Sendable {
        private let state = Locked<[String]>([])

        var tokens: [String] { state.withLock { $0 } }

        func add(_ token: String) { state.withLock { $0.append(token) } }
    }

    @Test func `a socket is told each token once, 30 seconds before the former one expires`() async {
        let clock = ManualClock()
        let told = Told()
        let start = clock.now
        let service = AsyncAccessTokenService(loader: HourLoader(clock: clock), clock: clock)
        let socket = YourSocket { token in
            told.add("\(token) at \(Int(clock.now.timeIntervalSince(start))) s")
        }
        let session = SocketSession(tokens: service, socket: socket, now: { clock.now }) { seconds in
            if told.tokens.count == 3 { throw CancellationError() }
            clock.advance(by: seconds)
        }
        await #expect(throws: CancellationError.self) { try await session.keepAuthorized() }
        #expect(told.tokens == ["token 1 at 0 s", "token 2 at 3570 s", "token 3 at 7140 s"])
    }
}
