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

    @Test func `a loader that drops its callback fails the waiters at once`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        service.callFromLegacyCode(then: answers.take)
        await loader.started(1)?.abandon()
        await answers.count(1)
        #expect(hasFailed(answers.results[0], with: .loadAbandoned))
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
}
