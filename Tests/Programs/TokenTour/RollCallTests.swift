import AccessTokenGCD
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import TokenTour

@Suite("A round ends when all callers are answered, or when it is closed", .eightAtATime, .timeLimit(.minutes(10)))
struct RollCallTests {
    @Test("It ends with the last answer, and all answers are counted")
    func complete() {
        let outcomes = Locked<[RollCall.Outcome]>([])
        let roll = RollCall(of: 3) { outcome in outcomes.withLock { $0.append(outcome) } }
        roll.answer(.served)
        roll.answer(.unserved("no reason"))
        #expect(outcomes.withLock { $0.isEmpty })
        roll.answer(.served)
        #expect(outcomes.withLock { $0 } == [RollCall.Outcome(served: 2, reasons: ["no reason": 1])])
        roll.close()
        #expect(outcomes.withLock { $0.count } == 1)
    }

    @Test("Closed early: missing answers are counted, later answers are not")
    func closed() {
        let outcomes = Locked<[RollCall.Outcome]>([])
        let roll = RollCall(of: 3) { outcome in outcomes.withLock { $0.append(outcome) } }
        roll.answer(.served)
        roll.close()
        roll.answer(.served)
        roll.answer(.served)
        #expect(outcomes.withLock { $0 } == [RollCall.Outcome(served: 1, unanswered: 2)])
    }

    @Test("A round ends although a service loses its callbacks")
    func silentService() async throws {
        try await withServer { server in
            let resource = ResourceClient(resource: server.resource)
            let log = CallerLog(lane: .callbackCallers, recorder: RoundRecorder()) { _ in "a token" }
            let caller = CallbackCaller(service: SilentService(), resource: resource, log: log)
            let crowd = Crowd(callbackCallers: [caller, caller], asyncCallers: [])
            #expect(await crowd.call(within: 0) == RollCall.Outcome(served: 0, unanswered: 2))
        }
    }
}

/// Takes every handler and calls none.
private final class SilentService: AccessTokenProviding {
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval { .answered }
    func invalidate(_ rejected: AccessToken) {}
    func signOut(then done: @escaping @Sendable () -> Void) { done() }
}
