import AccessTokenContract
import Foundation
import Testing

/// A trial on queues that a test runs by hand: nothing goes on beside the test, so that what does not come is missed at
/// once.
final class SteppedTrial {
    typealias Make = (any AccessTokenLoader, SteppedQueue) -> ShadowService.Candidate

    static let patience: TimeInterval = 10

    let clock = ManualClock()
    let service: ShadowService
    /// What callers are told.
    let answers = Answers()
    /// The queue of the old service, which serves.
    let oldQueue: SteppedQueue
    /// The queue of the new service, which is the shadow.
    let newQueue: SteppedQueue
    /// The queue on which the shadow is given its inputs.
    let shadowInputs: SteppedQueue
    private let others: [SteppedQueue]
    private let log = DifferenceLog()
    private let loader = Loader()

    /// - Parameters:
    ///   - patienceClock: times the patience; the clock of the trial, if it is `nil`.
    ///   - old: makes the old service, with all its queues as one.
    ///   - new: makes the new service, with all its queues as one.
    init(patienceClock: (any AccessTokenClock)? = nil, old: Make, new: Make) {
        let (oldQueue, newQueue, inputs) = (SteppedQueue(), SteppedQueue(), SteppedQueue())
        let (shadowInputs, reports) = (SteppedQueue(), SteppedQueue())
        service = ShadowService(
            serving: .old,
            loader: loader,
            patience: Self.patience,
            clock: patienceClock ?? clock,
            queues: ShadowQueues(serving: inputs, shadow: shadowInputs, reports: reports),
            old: { old($0, oldQueue) },
            new: { new($0, newQueue) },
            onDifference: { [log] difference in log.list.withLock { $0.append(difference) } }
        )
        self.oldQueue = oldQueue
        self.newQueue = newQueue
        self.shadowInputs = shadowInputs
        others = [inputs, reports]
    }

    var differences: [ShadowDifference] { log.list.withLock { $0 } }
    var loads: Int { loader.handlers.withLock { $0.count } }

    /// Lets everything happen that can, but on the queues that stand still.
    func run(but held: SteppedQueue...) {
        let queues = (others + [oldQueue, shadowInputs, newQueue]).filter { queue in !held.contains { $0 === queue } }
        while queues.contains(where: { $0.step() }) {}
    }

    @discardableResult
    func call() -> AccessTokenRetrieval {
        defer { run() }
        return service.retrieveToken(then: answers.take)
    }

    func invalidate(_ token: AccessToken) {
        service.invalidate(token)
        run()
    }

    func signIn(_ token: AccessToken) {
        service.signIn(token)
        run()
    }

    /// A load has brought this, which nobody has taken in yet.
    func bring(_ result: Result<AccessToken, any Error>, from load: Int) {
        let handler = loader.handlers.withLock { load <= $0.count ? $0[load - 1] : nil }
        guard let handler else {
            Issue.record("load \(load) was not started")
            return
        }
        handler(result)
    }

    func answer(_ load: Int, _ result: Result<AccessToken, any Error>) {
        bring(result, from: load)
        run()
    }

    /// Lets patience end, as often as something waits for that, but at most so many times.
    func endPatience(_ times: Int = 1) {
        for _ in 0..<times {
            clock.advance(by: Self.patience)
            run()
        }
    }

    /// The queue service.
    ///
    /// - Parameter change: what the call with this number, from 1, is answered with; `nil` for nothing.
    static func queueService(
        _ policy: AccessTokenPolicy = AccessTokenPolicy(leeway: 0, loadDeadline: nil),
        clock: any AccessTokenClock = ManualClock(),
        changing change: @escaping @Sendable (Int, Result<AccessToken, any Error>) -> Result<AccessToken, any Error>? =
            {
                $1
            }
    ) -> Make {
        { loader, queue in
            let service = AccessTokenService(
                loader: loader,
                policy: policy,
                clock: clock,
                engine: queue,
                loading: queue,
                delivery: queue,
                onEvent: nil
            )
            return ShadowService.Candidate(WrongService(service, change: change), signIn: service.signIn)
        }
    }

    /// Keeps what is to be told of each load.
    private final class Loader: AccessTokenLoader {
        let handlers = Locked<[AccessTokenHandler]>([])

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handlers.withLock { $0.append(handler) }
        }
    }
}
