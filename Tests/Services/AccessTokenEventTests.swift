import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("An event", .takesTurns)
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

    @Test(arguments: lines)
    func `is of a kind that has its name in code, and is one line of a log`(kind: AccessTokenEvent.Kind, line: String) {
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

    @Test func `of a failed load names the error's type, and nothing that the error says`() throws {
        struct TalkativeFailure: Error, CustomStringConvertible {
            var description: String { "refresh token s3cr3t was rejected" }
        }
        let event = try eventOfFailure(TalkativeFailure())
        #expect("\(event)" == "load 1 failed 1 waiting after 0.000 s with TalkativeFailure")
    }

    @Test func `of a failed load names the error's code for logs`() throws {
        struct ServerFailure: LoggableError {
            var logCode: String { "http_503" }
        }
        #expect(try eventOfFailure(ServerFailure()).errorCode == "http_503")
    }

    @Test func `of a failed load names the domain and number of an error of Foundation`() throws {
        struct FoundationFailure: CustomNSError {
            static var errorDomain: String { "Domain" }
            var errorCode: Int { 7 }
        }
        #expect(try eventOfFailure(FoundationFailure()).errorCode == "Domain 7")
    }

    private func eventOfFailure(_ error: any Error) throws -> AccessTokenEvent {
        let now = ManualClock().now
        var machine = AccessTokenStateMachine(policy: AccessTokenPolicy(), reportsEvents: true, at: now)
        let load = try machine.loadForCaller(at: now)
        _ = machine.loadFinished(load, LoadAnswer(.failure(error), isReported: true), waiters: 1, at: now)
        let events = machine.takeEvents()
        #expect(events.map(\.kind) == [.loadStarted, .loadFailed])
        return try #require(events.last)
    }

    @Test func `that is written behind a closed pipe does not end the process`() async {
        await #expect(processExitsWith: .success) {
            Self.logBehindAClosedPipe()
            exit(EXIT_SUCCESS)
        }
    }

    @Test func `that is written behind a closed pipe leaves the signals of the process as they were`() async {
        await #expect(processExitsWith: .success) {
            Self.logBehindAClosedPipe()
            var mask = sigset_t()
            var pending = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            unsafe sigpending(&pending)
            let isBlocked = unsafe sigismember(&mask, SIGPIPE) == 1
            exit(unsafe !isBlocked && sigismember(&pending, SIGPIPE) == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    private static func logBehindAClosedPipe() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0 else { exit(EXIT_FAILURE) }
        close(ends[0])
        let log = AccessTokenEventLog.standardError()
        for _ in 0..<3 { log(.init(.signedIn, waiters: 0)) }
    }

    // MARK: Delivery

    /// Takes events as an app's event handler does.
    private final class Handler: Sendable {
        private let events = Locked<[AccessTokenEvent]>([])
        private let onEvent = Locked<(@Sendable (AccessTokenEvent) -> Void)?>(nil)

        var delivered: [AccessTokenEvent] { events.withLock { $0 } }

        /// What the handler does beside.
        func whenDelivered(_ body: @escaping @Sendable (AccessTokenEvent) -> Void) { onEvent.withLock { $0 = body } }

        func take(_ event: AccessTokenEvent) {
            events.withLock { $0.append(event) }
            onEvent.withLock { $0 }?(event)
        }
    }

    /// A delivery on a queue that runs when a test says so.
    private struct Delivery {
        let queue = HeldQueue()
        let handler = Handler()
        let events: EventDelivery

        init() {
            events = EventDelivery(on: { [queue] in queue.enqueue($0) }, to: handler.take)
        }

        /// More events than may wait, of which three are lost.
        func overflow() {
            for load in 1...(EventDelivery.capacity + 3) { events.deliver([.init(.loadStarted, load: load)]) }
            queue.run()
        }
    }

    @Test func `that comes while a thousand wait is lost`() {
        let delivery = Delivery()
        delivery.overflow()
        let loads = delivery.handler.delivered.filter { $0.kind == .loadStarted }
        #expect(loads == (1...EventDelivery.capacity).map { .init(.loadStarted, load: $0) })
    }

    @Test func `that is lost is counted, and the next delivery says how many were`() {
        let delivery = Delivery()
        delivery.overflow()
        #expect(delivery.handler.delivered.last == .init(.eventsLost, count: 3))
    }

    @Test func `that comes after some were lost is delivered`() {
        let delivery = Delivery()
        delivery.overflow()
        delivery.events.deliver([.init(.signedOut, waiters: 0)])
        delivery.queue.run()
        #expect(delivery.handler.delivered.last == .init(.signedOut, waiters: 0))
    }

    @Test func `that does not come makes no block of the queue`() {
        let delivery = Delivery()
        delivery.events.deliver([])
        #expect(delivery.queue.count == 0)
    }

    @Test func `is delivered with those that wait, by one block of the queue`() {
        let delivery = Delivery()
        delivery.events.deliver([.init(.invalidated)])
        delivery.events.deliver([.init(.refusedSignedOut)])
        #expect(delivery.queue.count == 1)
    }

    @Test func `is delivered by a block of its own when those before it were delivered`() {
        let delivery = Delivery()
        delivery.events.deliver([.init(.invalidated)])
        delivery.queue.run()
        delivery.events.deliver([.init(.refusedSignedOut)])
        #expect(delivery.queue.count == 1)
        delivery.queue.run()
        #expect(delivery.handler.delivered == [.init(.invalidated), .init(.refusedSignedOut)])
    }

    @Test func `that a handler makes waits until others had their turn`() {
        let delivery = Delivery()
        delivery.handler.whenDelivered { [events = delivery.events] event in
            if event.kind == .refusedSignedOut { events.deliver([.init(.refusedCancelled)]) }
        }
        delivery.events.deliver([.init(.refusedSignedOut)])
        // A neighbour on the same thread, which came before the handler made its event.
        let deliveredBeforeNeighbour = Locked(0)
        delivery.queue.enqueue { [handler = delivery.handler] in
            deliveredBeforeNeighbour.withLock { $0 = handler.delivered.count }
        }
        delivery.queue.run()
        #expect(deliveredBeforeNeighbour.withLock { $0 } == 1)
        #expect(delivery.handler.delivered == [.init(.refusedSignedOut), .init(.refusedCancelled)])
        delivery.handler.whenDelivered { _ in }
    }
}
