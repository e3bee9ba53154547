import AccessTokenGCD
import Foundation

/// Calls both services in the same order, and carries out what the record of their decisions says.
final class ShadowTrial: Sendable {
    private let record: Locked<ShadowRecord>
    private let patience: TimeInterval
    private let clock: any AccessTokenClock
    private let onDifference: @Sendable (ShadowDifference) -> Void

    private let queues: ShadowQueues

    init(
        serving: ShadowService.Side,
        patience: TimeInterval,
        clock: any AccessTokenClock,
        queues: ShadowQueues,
        onDifference: @escaping @Sendable (ShadowDifference) -> Void
    ) {
        record = Locked(ShadowRecord(serving: serving))
        self.patience = patience
        self.clock = clock
        self.queues = queues
        self.onDifference = onDifference
    }

    var callCounts: (compared: Int, others: Int) { record.withLock { ($0.comparedCalls, $0.otherCalls) } }
    var isWaitingForPatience: Bool { record.withLock(\.isWaitingForPatience) }
    var isShadowLoading: Bool { record.withLock { !$0.wants.isEmpty } }
    var rememberedFacts: Int { record.withLock(\.count) }

    // MARK: Inputs

    func newCall() -> Int {
        record.withLock { $0.newCall() }
    }

    /// Gives an input to both services, from inside the loads that the caller is inside of.
    func give(
        _ input: ShadowRecord.Input,
        inside loads: [LoadID] = [],
        toServing serving: @escaping @Sendable () -> Void,
        toShadow shadow: @escaping @Sendable () -> Void
    ) {
        queues.serving.enqueue { [self] in
            record.withLock { $0.give(input, to: .serving) }
            LoaderCall.inside(loads, on: queues.serving.dispatchQueue, serving)
            guard record.withLock({ $0.isShadowNext() }) else { return }
            queues.shadow.enqueue { [self] in
                record.withLock { $0.give(input, to: .shadow) }
                shadow()
            }
        }
    }

    func servingAnswered(_ call: Int, _ result: Result<AccessToken, any Error>) {
        decide { $0.answered(call, result, by: .serving).effects }
    }

    /// Tells the shadow once more of a rejection that came too early, if this answer shows that it did.
    func shadowAnswered(
        _ call: Int,
        _ result: Result<AccessToken, any Error>,
        rejectAgain: @escaping @Sendable (AccessToken) -> Void
    ) {
        var isRejected = false
        decide { record in
            let answered = record.answered(call, result, by: .shadow)
            isRejected = answered.isRejected
            return answered.effects
        }
        guard isRejected, case .success(let token) = result else { return }
        queues.shadow.enqueue { [self] in
            record.withLock { $0.rejectAgain(token) }
            rejectAgain(token)
        }
    }

    // MARK: Loads

    func servingLoads() -> Int {
        record.withLock { $0.servingLoads() }
    }

    func loadFinished(
        _ load: Int,
        _ result: Result<AccessToken, any Error>,
        then handler: @escaping AccessTokenHandler
    ) {
        queues.serving.enqueue { [self] in
            decide { $0.loadFinished(load, result) }
            handler(result)
        }
    }

    func shadowLoads(then handler: @escaping AccessTokenHandler) {
        decide { $0.shadowLoads(then: handler) }
    }

    // MARK: Effects

    private func decide(_ input: (inout ShadowRecord) -> [ShadowRecord.Effect]) {
        for effect in record.withLock({ input(&$0) }) {
            switch effect {
            case .report(let difference):
                queues.reports.enqueue { [onDifference] in onDifference(difference) }
            case .wait(let wait):
                beginToWait(wait)
            case .answerShadow(let handler, let load, let result):
                queues.shadow.enqueue { [self] in
                    record.withLock { $0.giveShadow(load: load) }
                    handler(result)
                }
            }
        }
    }

    /// Waits in two halves: an app that was suspended finds a timer due before anything else has run.
    ///
    /// Never cancelled: whether it was in vain is seen when it ends.
    private func beginToWait(_ wait: ShadowRecord.Wait) {
        _ = clock.schedule(after: patience / 2) { [self] in
            _ = clock.schedule(after: patience / 2) { [self] in
                decide { $0.patienceEnded(wait) }
            }
        }
    }
}
