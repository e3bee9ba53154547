import AccessTokenAdapters
import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

/// What a stack of services and adapters reports is what the service alone reports, in the same order: who reads a log
/// need not know how the service is called.
@Suite("Events on a stack", .takesTurns, .endsHangs)
struct StackEventTests {
    private let loader = ControlledLoader()
    private let clock = ManualClock()
    private let log = EventLog()

    @Test(arguments: Stack.allCases)
    func `come in the order of what was done, each once`(_ stack: Stack) async throws {
        let doors = stack.make(loader, clock, log.take, executor: nil, policy: AccessTokenPolicy())
        let service = doors.callback
        let (first, second, new) = (token("first"), token("second"), token("new"))

        // Two callers share a load, and a third finds the token.
        let leader = retrieve(service)
        let load = await loader.started(1)
        let joiner = retrieve(service)
        await log.count(2)
        load?.answer(.success(first))
        for answers in [leader, joiner] { #expect(await answers.first().token == first) }
        #expect(await retrieve(service).first().token == first)
        // The token is rejected twice, and the next load fails.
        service.invalidate(first)
        service.invalidate(first)
        let failing = retrieve(service)
        await loader.started(2)?.answer(.failure(ContractLoadError(number: 2)))
        #expect(await failing.first().token == nil)
        // A sign-in answers who waits, and what the former session's load brings is ignored.
        let waiting = retrieve(service)
        let former = await loader.started(3)
        await log.count(9)
        await onThreadOfItsOwn { doors.signIn(new) }
        #expect(await waiting.first().token == new)
        former?.answer(.success(second))
        await log.count(11)
        await AsyncServiceAdapter(of: service).signOut()
        #expect(await retrieve(service).first().token == nil)
        await log.count(13)

        #expect(
            log.kinds == [
                .loadStarted, .joined, .loadSucceeded, .answeredFromCache, .invalidated, .ignoredInvalidation,
                .loadStarted, .loadFailed, .loadStarted, .signedIn, .ignoredAnswerOfFormerSession, .signedOut,
                .refusedSignedOut,
            ],
            "\(log.kinds)"
        )
    }

    private func token(_ value: String) -> AccessToken {
        AccessToken(value: value, expiration: clock.now + 3_600)
    }

    private func retrieve(_ service: any AccessTokenProviding) -> Answers {
        let answers = Answers()
        service.callFromLegacyCode(then: answers.take)
        return answers
    }
}

/// The events of a service, and who waits until there are so many.
private final class EventLog: Sendable {
    private struct State {
        var kinds: [AccessTokenEvent.Kind] = []
        var waits: [(count: Int, isThere: Event)] = []
    }

    private let state = Locked(State())

    var kinds: [AccessTokenEvent.Kind] { state.withLock { $0.kinds } }

    func take(_ event: AccessTokenEvent) {
        let waits = state.withLock { state in
            state.kinds.append(event.kind)
            return state.waits.filter { $0.count == state.kinds.count }
        }
        for wait in waits { wait.isThere.happen() }
    }

    /// Waits until there are so many events.
    func count(_ count: Int) async {
        let isThere = Event()
        let hasCome = state.withLock { state in
            state.waits.append((count, isThere))
            return state.kinds.count >= count
        }
        if hasCome { isThere.happen() }
        await isThere.wait()
    }
}
