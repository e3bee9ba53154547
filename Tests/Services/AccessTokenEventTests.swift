import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("An event", .eightAtATime)
struct AccessTokenEventTests {
    static let texts: [(AccessTokenEvent, String, String)] = [
        (.init(.answeredFromCache), "answeredFromCache", "answered from the cache"),
        (.init(.loadStarted, load: 3), "loadStarted", "load 3 started for a caller"),
        (.init(.joined, load: 3, waiters: 2), "joined", "load 3 joined, 2 waiting"),
        (.init(.refreshAheadStarted, load: 3), "refreshAheadStarted", "load 3 started ahead of the expiration"),
        (
            .init(.loadSucceeded, load: 3, waiters: 2, seconds: 1.5), "loadSucceeded",
            "load 3 brought a token to 2 waiting after 1.500 s"
        ),
        (
            .init(.loadFailed, load: 3, waiters: 2, seconds: 0.0004, errorType: "URLError"), "loadFailed",
            "load 3 failed 2 waiting after 0.000 s with URLError"
        ),
        (
            .init(.loadTimedOut, load: 3, waiters: 2, seconds: 60), "loadTimedOut",
            "load 3 silent past its deadline, failed 2 waiting after 60.000 s"
        ),
        (.init(.adoptedLateAnswer, load: 3), "adoptedLateAnswer", "load 3 brought a token after its deadline; kept"),
        (.init(.waiterCancelled, load: 3), "waiterCancelled", "load 3 lost a cancelled waiter and goes on"),
        (.init(.refusedCancelled), "refusedCancelled", "a cancelled caller started nothing"),
        (.init(.invalidated), "invalidated", "current token rejected"),
        (.init(.signedIn, waiters: 2), "signedIn", "signed in, 2 waiting answered"),
        (.init(.signedOut, waiters: 2), "signedOut", "signed out, 2 waiting answered"),
        (.init(.refusedSignedOut), "refusedSignedOut", "a caller was refused: signed out"),
        (.init(.refusedLoader), "refusedLoader", "a loader was refused: it asked its own service during a load"),
        (
            .init(.ignoredAnswerOfFormerSession, load: 3), "ignoredAnswerOfFormerSession",
            "ignored the answer of load 3, which belongs to a former session"
        ),
        (
            .init(.ignoredAnswerOfOlderLoad, load: 3), "ignoredAnswerOfOlderLoad",
            "ignored the late answer of load 3: a newer load or token is there"
        ),
        (
            .init(.ignoredWorthlessAnswer, load: 3), "ignoredWorthlessAnswer",
            "ignored the late answer of load 3, which brings no valid token"
        ),
        (.init(.ignoredRepeatedAnswer, load: 3), "ignoredRepeatedAnswer", "ignored a repeated answer of load 3"),
        (
            .init(.ignoredInvalidation), "ignoredInvalidation",
            "ignored the rejection of a token that is not the current one"
        ),
        (.init(.policyCorrected, detail: "leeway"), "policyCorrected", "policy corrected: leeway"),
        (.init(.eventsLost, count: 12), "eventsLost", "12 events lost: the event handler is too slow"),
        (
            .init(.loadFailed, load: 3, waiters: 2, seconds: 1, errorType: "OAuthError", errorCode: "invalid_grant"),
            "loadFailed",
            "load 3 failed 2 waiting after 1.000 s with OAuthError, invalid_grant"
        ),
    ]

    @Test("is one line of a log, and of a kind that has its name in code", arguments: texts)
    func text(event: AccessTokenEvent, name: String, text: String) {
        #expect(event.description == text)
        #expect("\(event.kind)" == name)
    }

    @Test("of a failed load names the error's type, and nothing that the error says")
    func namesErrorTypeOnly() throws {
        struct TalkativeFailure: Error, CustomStringConvertible {
            var description: String { "refresh token s3cr3t was rejected" }
        }
        #expect(try eventOfFailure(TalkativeFailure()).errorType == "TalkativeFailure")
        #expect(try eventOfFailure(TalkativeFailure()).errorCode == nil)
        #expect(!"\(try eventOfFailure(TalkativeFailure()))".contains("s3cr3t"))
    }

    @Test("of a failed load tells errors of one type apart by their codes")
    func namesErrorCode() throws {
        struct ServerFailure: LoggableError {
            var logCode: String { "http_503" }
        }
        struct FoundationFailure: CustomNSError {
            static var errorDomain: String { "Domain" }
            var errorCode: Int { 7 }
        }
        #expect(try eventOfFailure(ServerFailure()).errorCode == "http_503")
        #expect(try eventOfFailure(AccessTokenError.loadAbandoned).errorCode == "loadAbandoned")
        #expect(try eventOfFailure(FoundationFailure()).errorCode == "Domain 7")
    }

    private func eventOfFailure(_ error: any Error) throws -> AccessTokenEvent {
        var machine = AccessTokenStateMachine(service: ServiceID(), policy: AccessTokenPolicy(), reportsEvents: true)
        let now = ManualClock().now
        let start = try #require(machine.retrieve(by: CallerContext(), waiters: 0, at: now).start)
        _ = machine.loadFinished(start.load, .failure(error), error: LoggedError(.failure(error)), waiters: 1, at: now)
        let events = machine.takeEvents()
        #expect(events.map(\.kind) == [.loadStarted, .loadFailed])
        return try #require(events.last)
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
