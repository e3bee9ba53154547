import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// A clock whose timers are due at once.
struct InstantClock: AccessTokenClock {
    let now = Date(timeIntervalSince1970: 1_800_000_000)

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        Task { action() }
        return AccessTokenTimer {}
    }
}

extension OAuthLoader {
    /// Runs a load until its deadline has passed; the server has its request then, and has not answered.
    func timeOut(replacing old: AccessToken?, at server: ScriptedServer, by clock: ManualClock) async {
        let requests = server.requests.count
        let load = Task { try await self.load(replacing: old) }
        await yieldUntil { clock.pendingTimers == 1 && server.requests.count == requests + 1 }
        clock.advance(by: TokenEndpoint.usualDeadline)
        await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
    }
}

/// A clock whose timers are due when a test says so.
final class HeldClock: AccessTokenClock {
    let hasScheduled = Event()
    private let released = Event()

    var now: Date { .now }

    func release() { released.happen() }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        hasScheduled.happen()
        Task { [released] in
            await released.wait()
            action()
        }
        return AccessTokenTimer {}
    }
}
