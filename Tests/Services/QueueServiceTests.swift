import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("AccessTokenService, beyond the contract", .eightAtATime)
struct QueueServiceTests {
    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()

    @Test(arguments: ["serial", "concurrent", "main"])
    func `handlers are called one at a time, in order, on a queue of any kind (D2, D4)`(kind: String) async {
        let key = DispatchSpecificKey<Bool>()
        let queue =
            switch kind {
            case "serial": DispatchQueue(label: "serial")
            case "concurrent": DispatchQueue(label: "concurrent", attributes: .concurrent)
            default: DispatchQueue.main
            }
        queue.setSpecific(key: key, value: true)
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
        let inside = Locked(0)
        let order = Locked<[Int]>([])
        let wrong = Locked(0)
        for number in 0..<100 {
            service.callFromLegacyCode { [answers] result in
                let isAlone = inside.withLock { inside in
                    inside += 1
                    return inside == 1
                }
                if !isAlone || DispatchQueue.getSpecific(key: key) != true { wrong.withLock { $0 += 1 } }
                order.withLock { $0.append(number) }
                inside.withLock { $0 -= 1 }
                answers.take(result)
            }
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(100)
        #expect(wrong.withLock { $0 } == 0)
        #expect(order.withLock { $0 } == Array(0..<100))
        queue.setSpecific(key: key, value: nil)
    }

    @Test func `a handler that blocks holds up neither loads nor other services' work`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        let release = DispatchSemaphore(value: 0)
        let isBlocked = Event()
        service.signIn(validToken)
        service.callFromLegacyCode { [answers] result in
            isBlocked.happen()
            release.wait()
            answers.take(result)
        }
        await isBlocked.wait()
        service.invalidate(validToken)
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        load?.answer(.success(validToken))
        #expect(service.currentToken == validToken)
        release.signal()
        await answers.count(2)
    }

    @Test func `a handler finds the token that it was handed as the current one (D5)`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        let stale = Locked(0)
        for number in 1...500 {
            service.callFromLegacyCode { [answers] result in
                if service.currentToken != (try? result.get()) { stale.withLock { $0 += 1 } }
                answers.take(result)
            }
            await loader.started(number)?.answer(.success(AccessToken(value: "\(number)")))
            await answers.count(number)
            service.currentToken.map(service.invalidate)
        }
        #expect(stale.withLock { $0 } == 0)
    }

    @Test func `a loader that blocks hangs nobody: the next load times out as well (T1)`() async {
        let service = AccessTokenService(loader: loader, policy: AccessTokenPolicy(loadDeadline: 10), clock: clock)
        let release = DispatchSemaphore(value: 0)
        loader.insideLoad { _ in release.wait() }
        service.callFromLegacyCode(then: answers.take)
        _ = await loader.started(1)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 10)
        await answers.count(1)
        service.callFromLegacyCode(then: answers.take)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 10)
        await answers.count(2)
        #expect(answers.results.allSatisfy { hasFailed($0, with: .loadTimedOut) })
        release.signal()
        let signedOut = Event()
        service.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        #expect(loader.loads.count == 1, "a load that had lost the slot was begun after all")
    }

    @Test func `a handler may drop the last reference to its service`() async {
        let holder = Locked<AccessTokenService?>(AccessTokenService(loader: loader, clock: clock))
        let service = WeakReference(holder.withLock { $0 })
        service.object?.callFromLegacyCode { [answers] result in
            _ = holder.withLock { $0.take() }
            answers.take(result)
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(answers.tokens == [validToken])
    }

    @Test func `ten thousand waiters are answered by one load, in order`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        let order = Locked<[Int]>([])
        for number in 0..<10_000 {
            service.callFromLegacyCode { [answers] result in
                order.withLock { $0.append(number) }
                answers.take(result)
            }
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(10_000)
        #expect(order.withLock { $0 } == Array(0..<10_000))
        #expect(loader.loads.count == 1)
    }

    @Test func `a token that a load brings expired is handed out for the minimum interval, then loaded again`() async {
        let service = AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(minimumLoadInterval: 10),
            clock: clock
        )
        let expired = AccessToken(value: "expired", expiration: clock.now.addingTimeInterval(-86_400))
        service.callFromLegacyCode(then: answers.take)
        await loader.started(1)?.answer(.success(expired))
        await answers.count(1)
        #expect(answers.tokens == [expired])
        for _ in 0..<100 { service.callFromLegacyCode(then: answers.take) }
        await answers.count(101)
        #expect(answers.tokens == Array(repeating: expired, count: 101))
        #expect(loader.loads.count == 1)
        clock.advance(by: 10)
        #expect(service.currentToken == nil)
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(2)
        #expect(load?.replacing == expired)
        load?.answer(.success(validToken))
        await answers.count(102)
    }

    @Test func `a clock that jumps back an hour neither loads nor loses the deadline`() async {
        let events = Locked<[AccessTokenEvent]>([])
        let service = AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(loadDeadline: 10),
            clock: clock,
            onEvent: { event in events.withLock { $0.append(event) } }
        )
        let token = AccessToken(value: "T", expiration: clock.now.addingTimeInterval(3600))
        service.signIn(token)
        clock.setWallClock(to: clock.now.addingTimeInterval(-3600))
        service.callFromLegacyCode(then: answers.take)
        await answers.count(1)
        #expect(answers.tokens == [token])
        #expect(loader.loads.isEmpty)

        service.invalidate(token)
        service.callFromLegacyCode(then: answers.take)
        _ = await loader.started(1)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.setWallClock(to: clock.now.addingTimeInterval(-3600))
        clock.advance(by: 10)
        await answers.count(2)
        #expect(hasFailed(answers.results[1], with: .loadTimedOut))
        let last = Event()
        service.signOutFromLegacyCode { last.happen() }
        await last.wait()
        let timedOut = AccessTokenEvent(.loadTimedOut, load: 1, waiters: 1, seconds: 0)
        await yieldUntil { events.withLock { $0.contains(timedOut) } }
        #expect(events.withLock { $0 }.contains(timedOut))
    }

    @Test func `senseless times are corrected and reported`() async {
        let events = Locked<[AccessTokenEvent]>([])
        let service = AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(leeway: .nan, refreshAhead: -5, loadDeadline: .infinity),
            clock: clock,
            onEvent: { event in events.withLock { $0.append(event) } }
        )
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        #expect(clock.pendingTimers == 0, "no deadline")
        load?.answer(.success(AccessToken(value: "T", expiration: clock.now + 60)))
        await answers.count(1)
        #expect(service.currentToken != nil)
        await yieldUntil { events.withLock { $0.count } >= 3 }
        let corrections = events.withLock { $0 }.filter { $0.kind == .policyCorrected }
        #expect(corrections.count == 3)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a loader that drops its callback fails the waiters at once`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        service.callFromLegacyCode(then: answers.take)
        await loader.started(1)?.abandon()
        await answers.count(1)
        #expect(hasFailed(answers.results[0], with: .loadAbandoned))
    }

    @Test func `a callback loader that asks its own service inside the call gets an error (R1)`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        let inner = Answers()
        loader.insideLoad { [loader] load in
            guard load === loader.loads[0] else { return }
            service.callFromLegacyCode(then: inner.take)
        }
        service.callFromLegacyCode(then: answers.take)
        await inner.count(1)
        #expect(hasFailed(inner.results[0], with: .loadAskedItsOwnService))
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(loader.loads.count == 1)
    }

    @Test func `one that asks after the call has returned joins its own load, until the deadline (T1)`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        service.callFromLegacyCode(then: answers.take)
        _ = await loader.started(1)
        service.callFromLegacyCode(then: answers.take)
        await yieldUntil { clock.pendingTimers > 0 }
        clock.advance(by: 60)
        await answers.count(2)
        #expect(answers.results.allSatisfy { hasFailed($0, with: .loadTimedOut) })
        #expect(loader.loads.count == 1)
    }

    @Test func `an answered load leaves no timer and no reference behind`() async {
        let service = WeakReference<AccessTokenService>(nil)
        let finished = Event()
        do {
            let strong = AccessTokenService(
                loader: loader,
                clock: clock,
                onEvent: { event in
                    if event.kind == .loadSucceeded { finished.happen() }
                }
            )
            service.object = strong
            strong.callFromLegacyCode(then: answers.take)
            await loader.started(1)?.answer(.success(validToken))
            await answers.count(1)
            await finished.wait()
            let signedOut = Event()
            strong.signOutFromLegacyCode { signedOut.happen() }
            await signedOut.wait()
        }
        #expect(clock.pendingTimers == 0)
        await yieldUntil { service.object == nil }
        #expect(service.object == nil)
    }

    @Test func `events tell who led, who joined and who was cancelled, in order`() async {
        let events = Locked<[AccessTokenEvent]>([])
        let service = AccessTokenService(
            loader: loader,
            clock: clock,
            onEvent: { event in events.withLock { $0.append(event) } }
        )
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        service.callFromLegacyCode(then: answers.take)
        service.callFromLegacyCode(then: answers.take).cancel()
        clock.advance(by: 2)
        load?.answer(.success(validToken))
        await answers.count(3)
        service.callFromLegacyCode(then: answers.take)
        service.invalidate(AccessToken(value: "another"))
        let signedOut = Event()
        service.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        await yieldUntil { events.withLock { $0.last?.kind == .signedOut } }
        let expected: [AccessTokenEvent] = [
            .init(.loadStarted, load: 1), .init(.joined, load: 1, waiters: 2), .init(.joined, load: 1, waiters: 3),
            .init(.waiterCancelled, load: 1), .init(.loadSucceeded, load: 1, waiters: 2, seconds: 2),
            .init(.answeredFromCache), .init(.ignoredInvalidation), .init(.signedOut, waiters: 0),
        ]
        #expect(events.withLock { $0 } == expected)
    }

    @Test func `sign-out completes also if the loader drops its callback`() async {
        struct DroppingLoader: AccessTokenLoader {
            func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {}
            func signOut(then done: @escaping @Sendable () -> Void) {}
        }
        let service = AccessTokenService(loader: DroppingLoader(), clock: clock)
        let signedOut = Event()
        service.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
    }
}
