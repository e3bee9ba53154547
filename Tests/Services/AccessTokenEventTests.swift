import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("An event", .eightAtATime)
struct AccessTokenEventTests {
    static let lines: [(AccessTokenEvent.Kind, String)] = [
        (.answeredFromCache, "answeredFromCache: answered from the cache"),
        (.loadStarted, "loadStarted: load 3 started for a caller"),
        (.joined, "joined: load 3 joined, 2 waiting"),
        (.refreshAheadStarted, "refreshAheadStarted: load 3 started ahead of the expiration"),
        (.loadSucceeded, "loadSucceeded: load 3 brought a token to 2 waiting after 1.050 s"),
        (.loadFailed, "loadFailed: load 3 failed 2 waiting after 1.050 s with OAuthError, invalid_grant"),
        (.loadTimedOut, "loadTimedOut: load 3 silent past its deadline, failed 2 waiting after 1.050 s"),
        (.adoptedLateAnswer, "adoptedLateAnswer: load 3 brought a token after its deadline; kept"),
        (.waiterCancelled, "waiterCancelled: load 3 lost a cancelled waiter and goes on"),
        (.refusedCancelled, "refusedCancelled: a cancelled caller started nothing"),
        (.invalidated, "invalidated: current token rejected"),
        (.signedIn, "signedIn: signed in, 2 waiting answered"),
        (.signedOut, "signedOut: signed out, 2 waiting answered"),
        (.signOutTimedOut, "signOutTimedOut: the loader did not answer a sign-out in time; signed out without it"),
        (.refusedSignedOut, "refusedSignedOut: a caller was refused: signed out"),
        (.refusedLoader, "refusedLoader: a loader was refused: it asked its own service during a load"),
        (
            .ignoredAnswerOfFormerSession,
            "ignoredAnswerOfFormerSession: ignored the answer of load 3, which belongs to a former session"
        ),
        (
            .ignoredAnswerOfOlderLoad,
            "ignoredAnswerOfOlderLoad: ignored the late answer of load 3: a newer load or token is there"
        ),
        (
            .ignoredWorthlessAnswer,
            "ignoredWorthlessAnswer: ignored the answer of load 3, which brings no valid token"
        ),
        (.ignoredRepeatedAnswer, "ignoredRepeatedAnswer: ignored a repeated answer of load 3"),
        (.ignoredInvalidation, "ignoredInvalidation: ignored the rejection of a token that is not the current one"),
        (.policyCorrected, "policyCorrected: policy corrected: leeway"),
        (.eventsLost, "eventsLost: 12 events lost: the event handler is too slow"),
    ]

    @Test("is of a kind that has its name in code, and is one line of a log", arguments: lines)
    func line(kind: AccessTokenEvent.Kind, line: String) {
        let event = AccessTokenEvent(
            kind,
            load: 3,
            waiters: 2,
            seconds: 1.05,
            errorType: "OAuthError",
            errorCode: "invalid_grant",
            count: 12,
            detail: "leeway"
        )
        #expect("\(kind): \(event)" == line)
    }

    @Test("of a failed load names the error's type and stable code, and nothing else that the error says")
    func namesErrorTypeAndCode() throws {
        struct TalkativeFailure: Error, CustomStringConvertible {
            var description: String { "refresh token s3cr3t was rejected" }
        }
        struct ServerFailure: LoggableError {
            var logCode: String { "http_503" }
        }
        struct FoundationFailure: CustomNSError {
            static var errorDomain: String { "Domain" }
            var errorCode: Int { 7 }
        }
        let talkative = try eventOfFailure(TalkativeFailure())
        #expect("\(talkative)" == "load 1 failed 1 waiting after 0.000 s with TalkativeFailure")
        #expect(try eventOfFailure(ServerFailure()).errorCode == "http_503")
        #expect(try eventOfFailure(FoundationFailure()).errorCode == "Domain 7")
    }

    private func eventOfFailure(_ error: any Error) throws -> AccessTokenEvent {
        let now = ManualClock().now
        var machine = AccessTokenStateMachine(policy: AccessTokenPolicy(), reportsEvents: true, at: now)
        let load = try machine.retrieve(at: now).loadToStart()
        _ = machine.loadFinished(load, .failure(error), error: LoggedError(.failure(error)), at: now)
        let events = machine.takeEvents()
        #expect(events.map(\.kind) == [.loadStarted, .loadFailed])
        return try #require(events.last)
    }

    @Test("that is written behind a closed pipe does not end the process, and leaves its signals as they were")
    func isWrittenBehindAClosedPipe() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0 else { exit(EXIT_FAILURE) }
            close(ends[0])
            let log = AccessTokenEventLog.standardError()
            for _ in 0..<3 { log(.init(.signedIn, waiters: 0)) }
            var mask = sigset_t()
            var pending = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            unsafe sigpending(&pending)
            let isBlocked = unsafe sigismember(&mask, SIGPIPE) == 1
            exit(unsafe !isBlocked && sigismember(&pending, SIGPIPE) == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("that comes while a thousand wait is lost, and the next delivery says how many were")
    func isLost() {
        let queue = HeldQueue()
        let delivered = Locked<[AccessTokenEvent]>([])
        let delivery = EventDelivery(on: { queue.enqueue($0) }) { event in delivered.withLock { $0.append(event) } }
        for load in 1...(EventDelivery.capacity + 3) { delivery.deliver([.init(.loadStarted, load: load)]) }
        #expect(queue.count == 1, "one delivers")
        queue.run()
        let events = delivered.withLock { $0 }
        #expect(events.count == EventDelivery.capacity + 1)
        #expect(events.first == .init(.loadStarted, load: 1))
        #expect(events.last == .init(.eventsLost, count: 3))
        delivery.deliver([.init(.signedOut, waiters: 0)])
        queue.run()
        #expect(delivered.withLock { $0.dropFirst(events.count) } == [.init(.signedOut, waiters: 0)])
    }

    @Test("is delivered by one at a time, and others have their turn after each batch")
    func isDeliveredByOne() {
        let queue = HeldQueue()
        let delivered = Locked<[AccessTokenEvent]>([])
        let again = Locked<EventDelivery?>(nil)
        let delivery = EventDelivery(on: { queue.enqueue($0) }) { event in
            delivered.withLock { $0.append(event) }
            // The handler makes another event, which has to wait for its turn.
            if event.kind == .refusedSignedOut { again.withLock { $0.take() }?.deliver([.init(.refusedCancelled)]) }
        }
        again.withLock { $0 = delivery }
        delivery.deliver([])
        #expect(queue.count == 0, "there is nothing to deliver")
        delivery.deliver([.init(.invalidated)])
        delivery.deliver([.init(.refusedSignedOut)])
        #expect(queue.count == 1, "one delivers")
        let neighbour = Locked(0)
        queue.enqueue { neighbour.withLock { $0 = delivered.withLock { $0.count } } }
        queue.run()
        #expect(neighbour.withLock { $0 } == 2)
        #expect(delivered.withLock { $0 } == [.init(.invalidated), .init(.refusedSignedOut), .init(.refusedCancelled)])
        delivery.deliver([.init(.invalidated)])
        #expect(queue.count == 1, "one delivers again")
        queue.run()
        #expect(delivered.withLock { $0.count } == 4)
    }
}
