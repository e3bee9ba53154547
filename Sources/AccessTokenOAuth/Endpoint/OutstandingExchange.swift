import AccessTokenCore
import Foundation

/// A request that was sent and whose reply is wanted, whoever still waits for it.
///
/// A deadline ends the wait and never the exchange: if the server rotated the refresh token, the late reply is the only
/// place where the new one is.
final class OutstandingExchange<Reply: Sendable>: Sendable {
    private struct Wait {
        let finish: OneShot<Reply?>
        var timer: AccessTokenTimer?
    }

    private struct State {
        var reply: Reply?
        var waits: [Wait] = []
        /// Whoever starts an exchange is going to wait for it: a reply that is faster than that is not late.
        var hasBeenAwaited = false
    }

    private let state = Locked(State())
    private let onReply: @Sendable (Reply, _ isLate: Bool) -> Void

    /// - Parameter onReply: called with the reply before those who wait get it; it is late if nobody waits any more.
    init(onReply: @escaping @Sendable (Reply, _ isLate: Bool) -> Void) {
        self.onReply = onReply
    }

    /// Whether the reply is there.
    var isSettled: Bool { state.withLock { $0.reply != nil } }

    /// Takes the reply; only the first one counts.
    func settle(_ reply: Reply) {
        let (waits, isFirst, isLate) = state.withLock { state in
            guard state.reply == nil else { return ([Wait](), false, false) }
            state.reply = reply
            defer { state.waits = [] }
            return (state.waits, true, state.hasBeenAwaited && state.waits.isEmpty)
        }
        guard isFirst else { return }
        onReply(reply, isLate)
        for wait in waits {
            wait.timer?.cancel()
            wait.finish(reply)
        }
    }

    /// The reply, or `nil` if `seconds` pass before it is there.
    func reply(within seconds: TimeInterval, by clock: any AccessTokenClock) async -> Reply? {
        await withCheckedContinuation { continuation in
            let finish = OneShot<Reply?>(abandoned: nil) { continuation.resume(returning: $0) }
            let present = state.withLock { state in
                state.hasBeenAwaited = true
                if state.reply == nil { state.waits.append(Wait(finish: finish)) }
                return state.reply
            }
            if let present {
                finish(present)
                return
            }
            let timer = clock.schedule(after: seconds) { [self] in
                // Out of the list, and only then answered: a reply finds this wait, or is late, and nothing between.
                if forget(finish) { finish(nil) }
            }
            let isOver = state.withLock { state in
                guard let index = state.waits.firstIndex(where: { $0.finish === finish }) else { return true }
                state.waits[index].timer = timer
                return false
            }
            if isOver { timer.cancel() }
        }
    }

    private func forget(_ finish: OneShot<Reply?>) -> Bool {
        state.withLock { state in
            guard let index = state.waits.firstIndex(where: { $0.finish === finish }) else { return false }
            state.waits.remove(at: index)
            return true
        }
    }
}
