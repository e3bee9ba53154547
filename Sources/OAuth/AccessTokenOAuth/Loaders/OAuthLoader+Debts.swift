import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// A pause before an attempt to pay; its identity tells whether it is still the planned one.
private final class PlannedPause: Sendable {
    let seconds: TimeInterval

    init(_ seconds: TimeInterval) { self.seconds = seconds }
}

/// A loader that owes its store something, and when it tries to pay.
private struct Debtor: Sendable {
    let loader: OAuthLoader
    /// `nil` while an attempt runs, which plans the next one.
    var pause: PlannedPause?
    let timer: AccessTokenTimer
}

/// The loaders that owe their store something, by their memory.
///
/// A service may be let go, and its loader with it. Here the loader, its store and its memory live on.
private let debtors = Locked<[ObjectIdentifier: Debtor]>([:])

/// What the process owes a store: a credential that was issued, a removal, a refusal or a hold.
///
/// The next load of the store pays, since it reads the same memory. If no load comes, the loader pays by itself.
extension OAuthLoader {
    /// Seconds before the first attempt, and at most before each of the others; each pause is twice the one before.
    ///
    /// What the store can never take is only looked after: the record may say meanwhile that it is pointless.
    private static let pauses = (first: 1.0, longest: 60.0, longestLook: 3600.0)

    /// Keeps what the store has not taken, and tries again until it has; does nothing if nothing is owed.
    func payLater() {
        let overtaken = debtors.withLock { debtors -> AccessTokenTimer? in
            guard memory.withLock({ $0.isOwing }) else { return nil }
            let debtor = debtors[ObjectIdentifier(memory)]
            if let debtor {
                // The pause was planned for an older debt, and may be too long for the present one.
                guard let pause = debtor.pause, pause.seconds > longestPause else { return nil }
            }
            debtors[ObjectIdentifier(memory)] = (debtor?.loader ?? self).planPayment(after: Self.pauses.first)
            return debtor?.timer
        }
        // Outside of the lock: what the timer holds is released.
        overtaken?.cancel()
    }

    /// Under the lock of the debtors, which an attempt takes first: it finds its pause there.
    private func planPayment(after seconds: TimeInterval) -> Debtor {
        let pause = PlannedPause(seconds)
        let timer = exchange.clock.schedule(after: seconds) { Task { await self.pay(after: pause) } }
        return Debtor(loader: self, pause: pause, timer: timer)
    }

    /// A load without a caller writes what is owed, and sends nothing.
    private func pay(after pause: PlannedPause) async {
        let isPlanned = debtors.withLock { debtors in
            // The timer may have fired before it was cancelled.
            guard debtors[ObjectIdentifier(memory)]?.pause === pause else { return false }
            debtors[ObjectIdentifier(memory)]?.pause = nil
            return true
        }
        guard isPlanned else { return }
        var machine = machine(replacing: nil)
        machine.deadlinePassed()
        _ = await run(RunningLoad(machine, memory), with: .none)
        debtors.withLock { debtors in
            let isOwing = memory.withLock { $0.isOwing }
            debtors[ObjectIdentifier(memory)] =
                isOwing ? planPayment(after: min(2 * pause.seconds, longestPause)) : nil
        }
    }

    /// Other processes send the refresh token again when they have seen no sign of this one for the take-over delay.
    ///
    /// An attempt to pay is such a sign, and brings the successor of that token: there are some within each delay.
    private var longestPause: TimeInterval {
        let (isUnpaid, isUnsaved) = memory.withLock { ($0.isUnpaid, $0.unsaved != nil) }
        guard isUnpaid else { return Self.pauses.longestLook }
        guard isUnsaved, store.takeOverDelay > 0 else { return Self.pauses.longest }
        return min(Self.pauses.longest, max(Self.pauses.first, store.takeOverDelay / 3))
    }
}
