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
}
