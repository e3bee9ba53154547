import AccessTokenCore
import Testing

@Suite("An event")
struct AccessTokenEventTests {
    static let texts: [(AccessTokenEvent, String)] = [
        (.answeredFromCache, "answered from the cache"),
        (.led(load: 3), "load 3 started for a caller"),
        (.joined(load: 3, waiters: 2), "load 3 joined, 2 waiting"),
        (.startedBehind(load: 3), "load 3 started ahead of the expiration"),
        (
            .loadSucceeded(load: 3, waiters: 2, seconds: 1.5),
            "load 3 brought a token to 2 waiting after 1.500 s"
        ),
        (
            .loadFailed(load: 3, waiters: 2, seconds: 0.0004, errorType: "URLError"),
            "load 3 failed 2 waiting after 0.000 s with URLError"
        ),
        (
            .loadTimedOut(load: 3, waiters: 2, seconds: 60),
            "load 3 silent past its deadline, failed 2 waiting after 60.000 s"
        ),
        (.adoptedLateAnswer(load: 3), "load 3 brought a token after its deadline; kept"),
        (.waiterCancelled(load: 3), "load 3 lost a cancelled waiter and goes on"),
        (.refusedCancelled, "a cancelled caller started nothing"),
        (.invalidated, "current token rejected"),
        (.signedIn(waiters: 2), "signed in, 2 waiting answered"),
        (.signedOut(waiters: 2), "signed out, 2 waiting answered"),
        (.refusedSignedOut, "a caller was refused: signed out"),
        (.refusedLoader, "a loader was refused: it asked its own service during a load"),
        (
            .ignored(.answerOfFormerSession(load: 3)),
            "ignored the answer of load 3, which belongs to a former session"
        ),
        (
            .ignored(.answerOfOlderLoad(load: 3)),
            "ignored the late answer of load 3: a newer load or token is there"
        ),
        (
            .ignored(.worthlessLateAnswer(load: 3)),
            "ignored the late answer of load 3, which brings no valid token"
        ),
        (.ignored(.repeatedAnswer(load: 3)), "ignored a repeated answer of load 3"),
        (.ignored(.invalidationOfOtherToken), "ignored the rejection of a token that is not the current one"),
        (.policyCorrected("leeway"), "policy corrected: leeway"),
    ]

    @Test("is one line of a log", arguments: texts)
    func text(event: AccessTokenEvent, text: String) {
        #expect(event.description == text)
    }

    @Test("of a failed load names the error's type, and nothing that the error says")
    func namesErrorTypeOnly() {
        struct TalkativeFailure: Error, CustomStringConvertible {
            var description: String { "refresh token s3cr3t was rejected" }
        }
        var machine = AccessTokenStateMachine<Int>(policy: AccessTokenPolicy(), reportsEvents: true)
        let now = ManualClock().now
        let effects = machine.retrieve(1, at: now).effects
        guard case .startLoad(let flight, _, _) = effects.first else {
            Issue.record("no load started: \(effects)")
            return
        }
        let events = machine.loadFinished(flight, .failure(TalkativeFailure()), at: now).effects.compactMap { effect in
            if case .report(let event) = effect { event } else { nil }
        }
        #expect(events == [.loadFailed(load: 1, waiters: 1, seconds: 0, errorType: "TalkativeFailure")])
    }
}
