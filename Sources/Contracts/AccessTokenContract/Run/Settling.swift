import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch
import Foundation

/// Sends a messenger through all that a subject may run on, again and again, until nothing happens any more.
///
/// The messenger goes through the handlers' queue, the pool of tasks at three priorities, the global queue, and the
/// main queue if that is served. Where it cannot get through, the subject blocks something, and there is nothing to
/// wait for.
struct Settling {
    enum Patience {
        /// No time is waited for: what is missed is seen at the next step, and what is found is tried again.
        case short
        case usual
        /// For the last look before an accusation: ten times as long.
        case long
    }

    let log: RunLog
    let handlerQueue: DispatchQueue
    var patience = Patience.usual

    /// Each takes the messenger through more queues than a subject uses for a step that leaves no line in the trace.
    private var fewestQuietRounds: Int { patience == .short ? 3 : 6 }

    func wait() async {
        let quietTime: UInt64 =
            switch patience {
            case .short: 0
            case .usual: Self.quietTime
            case .long: 10 * Self.quietTime
            }
        var (lines, lastLine) = (log.lines, DispatchTime.now().uptimeNanoseconds)
        var quietRounds = 0
        // A subject that never rests is not waited for.
        for _ in 0..<500 {
            guard await messengerReturns() else { return }
            let now = DispatchTime.now().uptimeNanoseconds
            quietRounds += 1
            if log.lines != lines { (lines, lastLine, quietRounds) = (log.lines, now, 0) }
            guard quietRounds >= fewestQuietRounds else { continue }
            guard now - lastLine < quietTime else { return }
            await TimeLimit.pause(milliseconds: 1 + Int((quietTime - (now - lastLine)) / 1_000_000))
        }
    }

    private func messengerReturns() async -> Bool {
        let isBack = Locked(false)
        let returns: @Sendable () -> Void = { [log] in
            isBack.withLock { $0 = true }
            log.check()
        }
        handlerQueue.async {
            Task.detached(priority: .high) {
                Task.detached(priority: .medium) {
                    // Where the pool is no part of Dispatch, its low priority is not the global queue's.
                    Task.detached(priority: .low) {
                        DispatchQueue.global(qos: .utility).async {
                            guard MainQueue.shared.isServed else { return returns() }
                            DispatchQueue.main.async(execute: returns)
                        }
                    }
                }
            }
        }
        return await log.wait(0.5) { isBack.withLock { $0 } }
    }

    /// Nanoseconds: a thread of the subject that a busy machine has stopped goes on only after the turns of others.
    private static var quietTime: UInt64 {
        var load = 0.0
        guard unsafe getloadavg(&load, 1) == 1 else { return 2_000_000 }
        let excess = load / Double(ProcessInfo.processInfo.activeProcessorCount) - 1
        return UInt64(2e6 * (1 + min(9, max(0, 2 * excess))))
    }
}

/// Knows whether anybody serves the main queue, on which a service of the main actor runs.
///
/// A program that blocks its main thread while the contract is verified does not.
private final class MainQueue: Sendable {
    static let shared = MainQueue()

    private let wasServed = Locked(false)

    private init() {
        DispatchQueue.main.async { [self] in wasServed.withLock { $0 = true } }
    }

    var isServed: Bool { wasServed.withLock { $0 } }
}
