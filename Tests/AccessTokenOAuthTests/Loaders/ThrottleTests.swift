import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A throttle and the end of a session", .timeLimit(.minutes(2)))
struct ThrottleTests {
    private final class HeldLoader: AsyncAccessTokenLoader {
        let isInside = Event()
        let mayLeave = Event()
        let loads = Locked(0)
        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let number = loads.withLock {
                $0 += 1; return $0
            }
            guard number == 1 else { return AccessToken(value: "NEW") }
            isInside.happen()
            await mayLeave.wait()
            throw OAuthError.unavailable(status: 503, retryAfter: 300)
        }
        func signOut() async { mayLeave.happen() }
    }

    @Test func `a failure of the session that ended answers nobody in the next`() async throws {
        let base = HeldLoader()
        let loader = ThrottlingLoader(base, clock: ManualClock())
        let load = Task { try await loader.load(replacing: nil) }
        await base.isInside.wait()
        await loader.signOut()
        _ = try? await load.value
        #expect(try await loader.load(replacing: nil).value == "NEW")
    }
}
