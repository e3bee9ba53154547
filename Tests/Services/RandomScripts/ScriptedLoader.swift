import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Answers each load when the script says so, and remembers inside which loads it was asked.
final class ScriptedLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    private struct Load {
        let enclosing: [AccessTokenCore.Load.ID]
        let handler: AccessTokenHandler
    }

    private let log: ScriptLog
    private let loads = Locked<[Load]>([])

    init(_ log: ScriptLog) { self.log = log }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        loads.withLock { $0.append(Load(enclosing: LoadContext.currentLoads, handler: handler)) }
        log.add { $0.starts.append(old?.value) }
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        try await withCheckedThrowingContinuation { continuation in
            load(replacing: old) { continuation.resume(with: $0) }
        }
    }

    /// Answers a load; loads are numbered from 1.
    func answer(_ load: Int, _ result: Result<AccessToken, any Error>) {
        let handler = loads.withLock { $0[load - 1].handler }
        handler(result)
    }

    /// The loads inside which this load's code runs.
    func enclosing(_ load: Int) -> [AccessTokenCore.Load.ID] { loads.withLock { $0[load - 1].enclosing } }
}

/// A clock whose timers are the deadlines of loads, and of sign-outs, which the loader answers at once.
final class ScriptClock: AccessTokenClock {
    private struct State {
        var now = Date(timeIntervalSinceReferenceDate: 0)
        /// Those that were not cancelled and have not fired, by the order in which they were made.
        var timers: [Int: @Sendable () -> Void] = [:]
        var lastTimer = 0
        /// The timer of each load.
        var deadlines: [Int] = []
    }

    private let state = Locked(State())

    var now: Date { state.withLock { $0.now } }

    func set(_ seconds: Double) { state.withLock { $0.now = Date(timeIntervalSinceReferenceDate: seconds) } }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let timer = state.withLock { state in
            state.lastTimer += 1
            state.timers[state.lastTimer] = action
            return state.lastTimer
        }
        return AccessTokenTimer { [self] in _ = state.withLock { $0.timers.removeValue(forKey: timer) } }
    }

    /// Takes the new timer for the deadline of the load that the last input has started, if one is left.
    func settle() {
        state.withLock { state in
            let last = state.deadlines.last ?? 0
            state.deadlines += state.timers.keys.filter { $0 > last }.sorted()
        }
    }

    /// Lets a load's deadline pass, unless its timer was cancelled.
    func fire(_ load: Int) {
        let action = state.withLock { $0.timers.removeValue(forKey: $0.deadlines[load - 1]) }
        action?()
    }
}
