import AccessTokenContract
import AccessTokenCore
import Foundation

/// Answers each load when the script says so, and remembers inside which loads it was asked.
final class ScriptedLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    private struct Load {
        let enclosing: [LoadID]
        let handler: AccessTokenHandler
    }

    private let log: ScriptLog
    private let loads = Locked<[Load]>([])

    init(_ log: ScriptLog) { self.log = log }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        loads.withLock { $0.append(Load(enclosing: EnclosingLoads.current, handler: handler)) }
        log.add { $0.starts.append(old?.value) }
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        try await withCheckedThrowingContinuation { continuation in
            load(replacing: old) { continuation.resume(with: $0) }
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) { done() }
    func signOut() async {}

    /// Answers a load; loads are numbered from 1.
    func answer(_ load: Int, _ result: Result<AccessToken, any Error>) {
        let handler = loads.withLock { $0[load - 1].handler }
        handler(result)
    }

    /// The loads inside which this load's code runs.
    func enclosing(_ load: Int) -> [LoadID] { loads.withLock { $0[load - 1].enclosing } }
}

/// A clock whose timers are the deadlines of loads: the first timer is the first load's.
final class ScriptClock: AccessTokenClock {
    private struct State {
        var now = Date(timeIntervalSinceReferenceDate: 0)
        var timers: [(@Sendable () -> Void)?] = []
    }

    private let log: ScriptLog
    private let state = Locked(State())

    init(_ log: ScriptLog) { self.log = log }

    var now: Date { state.withLock { $0.now } }

    func set(_ seconds: Double) { state.withLock { $0.now = Date(timeIntervalSinceReferenceDate: seconds) } }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let index = state.withLock { state in
            state.timers.append(action)
            return state.timers.count - 1
        }
        log.add { $0.deadlines += 1 }
        return AccessTokenTimer { [self] in _ = state.withLock { $0.timers[index].take() } }
    }

    /// Lets a load's deadline pass, unless its timer was cancelled.
    func fire(_ load: Int) {
        let action = state.withLock { $0.timers[load - 1].take() }
        action?()
    }
}
