import AccessTokenGCD
import Dispatch
import Foundation

/// Calls both services in the same order, and carries out what the record of their decisions says.
final class ShadowTrial: Sendable {
    private let record: Locked<ShadowRecord>
    private let patience: TimeInterval
    private let clock: any AccessTokenClock
    private let onDifference: @Sendable (ShadowDifference) -> Void

    /// Gives inputs to the serving service, and passes them on to the shadow's queue.
    private let inputs = DispatchQueue(label: "ShadowService.serving")
    private let shadowInputs = DispatchQueue(label: "ShadowService.shadow")
    private let reports = DispatchQueue(label: "ShadowService.reports")

    init(
        serving: ShadowService.Side,
        patience: TimeInterval,
        clock: any AccessTokenClock,
        onDifference: @escaping @Sendable (ShadowDifference) -> Void
    ) {
        record = Locked(ShadowRecord(serving: serving))
        self.patience = patience
        self.clock = clock
        self.onDifference = onDifference
    }

    var callCounts: (compared: Int, others: Int) { record.withLock { ($0.comparedCalls, $0.otherCalls) } }

    var loadsWanted: (serving: Int, shadow: Int) { record.withLock { ($0.serving.loads, $0.shadow.loads) } }
    var isWaitingForPatience: Bool { record.withLock(\.isWaitingForPatience) }
    var isAtRest: Bool { record.withLock { $0.isAtRest && $0.serving.loads == 0 && $0.shadow.loads == 0 } }

    // MARK: Inputs

    func newCall() -> Int {
        record.withLock { $0.newCall() }
    }

    func give(
        _ input: ShadowRecord.Input,
        toServing serving: @escaping @Sendable () -> Void,
        toShadow shadow: @escaping @Sendable () -> Void
    ) {
        inputs.async { [self] in
            let results = record.withLock { $0.giveServing(input) }
            serving()
            shadowInputs.async { [self] in
                record.withLock { $0.giveShadow(input, afterResults: results) }
                shadow()
                decide { $0.gaveShadow() }
            }
        }
    }

    func answered(_ call: Int, _ result: Result<AccessToken, any Error>, isServing: Bool) {
        decide { $0.answered(call, result, isServing: isServing) }
    }

    // MARK: Loads

    func servingLoads() -> ShadowLoad {
        record.withLock { $0.servingLoads() }
    }

    func loadFinished(
        _ load: ShadowLoad,
        _ result: Result<AccessToken, any Error>,
        then handler: @escaping AccessTokenHandler
    ) {
        inputs.async { [self] in
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
                reports.async { [onDifference] in onDifference(difference) }
            case .wait(let wait):
                // Never cancelled: whether it was in vain is seen when it ends.
                _ = clock.schedule(after: patience) { [self] in decide { $0.patienceEnded(wait) } }
            case .answerShadow(let handler, let load, let result):
                shadowInputs.async { [self] in
                    record.withLock { $0.shadow.giveResult(of: load) }
                    handler(result)
                    decide { $0.gaveShadow() }
                }
            }
        }
    }
}

extension ShadowRecord {
    fileprivate mutating func patienceEnded(_ wait: Wait) -> [Effect] {
        switch wait {
        case .otherAnswers(let calls): answersAreMissing(calls)
        case .servingLoad(let load): servingLoadIsMissing(load)
        case .equalLoads(let period): loadsAreUnequal(in: period)
        }
    }
}
