import Dispatch
import Foundation

/// All callers of a set-up, who call at the same moment.
struct Crowd: Sendable {
    let callbackCallers: [CallbackCaller]
    let asyncCallers: [AsyncCaller]

    /// Lets all of them call, and waits for all, but no longer than so many seconds.
    func call(within limit: TimeInterval) async -> RollCall.Outcome {
        await withCheckedContinuation { continuation in
            let roll = RollCall(of: callbackCallers.count + asyncCallers.count) { outcome in
                continuation.resume(returning: outcome)
            }
            // Held back until all of them stand in line.
            let line = DispatchQueue(label: "token-tour.callers", attributes: [.concurrent, .initiallyInactive])
            for caller in callbackCallers {
                line.async { caller.call { roll.answer($0) } }
            }
            line.activate()
            for caller in asyncCallers {
                Task { roll.answer(await caller.call()) }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit) { roll.close() }
        }
    }
}
