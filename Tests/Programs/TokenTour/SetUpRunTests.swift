import AccessTokenGCD
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import token_tour

@Suite("Set-ups meet a rotating server over HTTP", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct SetUpRunTests {
    @Test("Ours keep the session with one load per round", arguments: SetUp.allCases.filter(\.isOurs))
    func ours(_ setUp: SetUp) async throws {
        let result = try await SetUpRun(setUp: setUp, rounds: 3, callers: 20).run { _ in }
        #expect(result.callers == RollCall.Outcome(served: 60))
        #expect(result.loads == 3)
        #expect(result.reuses == 0)
        #expect(result.isGood)
        let served = result.lastRound.count { if case .resourceServed = $0 { true } else { false } }
        #expect(served == 20)
    }

    /// While the load of a naive set-up takes its time, the other callers come, also on a busy machine.
    @Test("The naive ones lose it in every round", arguments: SetUp.allCases.filter { !$0.isOurs })
    func naive(_ setUp: SetUp) async throws {
        let result = try await SetUpRun(setUp: setUp, rounds: 3, callers: 20, latency: 0.5).run { _ in }
        #expect(result.loads > 3)
        #expect(result.reuses >= 3)
        #expect(result.sessionsLost == 3)
        #expect(!result.isGood)
    }

    @Test("The naive ones are right as long as there is one caller", arguments: SetUp.allCases.filter { !$0.isOurs })
    func alone(_ setUp: SetUp) async throws {
        let result = try await SetUpRun(setUp: setUp, rounds: 3, callers: 1).run { _ in }
        #expect(result.loads == 3)
        #expect(result.isGood)
    }

    @Test("A round ends although a service loses its callbacks")
    func silentService() async throws {
        let resource = ResourceClient(resource: try #require(URL(string: "http://127.0.0.1:1")))
        let caller = CallbackCaller(service: SilentService(), resource: resource)
        #expect(await RollCall.outcome(of: [caller, caller], within: 0) == RollCall.Outcome(unanswered: 2))
    }

    @Test("A round ends with the last answer, or when it is closed, and later answers do not count")
    func rollCall() {
        let outcomes = Locked<[RollCall.Outcome]>([])
        let complete = RollCall(of: 2) { outcome in outcomes.withLock { $0.append(outcome) } }
        complete.answer(.served)
        #expect(outcomes.withLock { $0.isEmpty })
        complete.answer(.unserved("no reason"))
        complete.close()
        let closed = RollCall(of: 2) { outcome in outcomes.withLock { $0.append(outcome) } }
        closed.answer(.served)
        closed.close()
        closed.answer(.served)
        #expect(
            outcomes.withLock { $0 } == [.init(served: 1, reasons: ["no reason": 1]), .init(served: 1, unanswered: 1)]
        )
    }
}

/// Takes every handler and calls none.
private final class SilentService: AccessTokenProviding {
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval { .answered }
    func invalidate(_ rejected: AccessToken) {}
    func signOut(then done: @escaping @Sendable () -> Void) { done() }
}
