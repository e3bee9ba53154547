import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// The loaders that owe their store something, by their memory.
///
/// A service may be let go, and its loader with it. Here the loader, its store and its memory live on.
private let debtors = Locked<[ObjectIdentifier: OAuthLoader]>([:])

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
        let isNew = debtors.withLock { debtors in
            let key = ObjectIdentifier(memory)
            guard debtors[key] == nil, memory.withLock({ $0.isOwing }) else { return false }
            debtors[key] = self
            return true
        }
        if isNew { planPayment(after: Self.pauses.first) }
    }

    private func planPayment(after pause: TimeInterval) {
        _ = exchange.clock.schedule(after: pause) { Task { await self.pay(after: pause) } }
    }

    /// A load without a caller writes what is owed, and sends nothing.
    private func pay(after pause: TimeInterval) async {
        var machine = machine(replacing: nil)
        machine.deadlinePassed()
        _ = await run(RunningLoad(machine, memory), with: .none)
        let isPaid = debtors.withLock { debtors in
            guard !memory.withLock({ $0.isOwing }) else { return false }
            debtors[ObjectIdentifier(memory)] = nil
            return true
        }
        if !isPaid { planPayment(after: min(2 * pause, longestPause)) }
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
