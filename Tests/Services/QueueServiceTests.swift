import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("AccessTokenService, beyond the contract", .eightAtATime)
struct QueueServiceTests {
    @Test(
        arguments: [DispatchQueue(label: "serial"), DispatchQueue(label: "concurrent", attributes: .concurrent), .main]
    )
    func `handlers are called one at a time, in order, on a queue of any kind (D2, D4)`(queue: DispatchQueue) async {
        let (loader, answers) = (ControlledLoader(), Answers())
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        defer { queue.setSpecific(key: key, value: nil) }
        let service = AccessTokenService(loader: loader, clock: ManualClock(), handlerQueue: queue)
        let inside = Locked(0)
        let order = Locked<[Int]>([])
        for number in 0..<100 {
            service.callFromLegacyCode { result in
                let isAlone = inside.withLock { inside in
                    inside += 1
                    return inside == 1
                }
                #expect(isAlone && DispatchQueue.getSpecific(key: key) == true)
                order.withLock { $0.append(number) }
                inside.withLock { $0 -= 1 }
                answers.take(result)
            }
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(100)
        #expect(order.withLock { $0 } == Array(0..<100))
    }
}
