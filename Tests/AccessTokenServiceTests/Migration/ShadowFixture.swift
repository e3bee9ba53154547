import AccessTokenContract
import Foundation
import PublishedBugs

/// Two services on trial, and what the trial said of them.
final class ShadowFixture: Sendable {
    typealias Make = @Sendable (any AccessTokenLoader) -> ShadowService.Candidate

    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()
    let service: ShadowService
    /// The loads that the old service has asked for.
    let oldLoads = Answers()
    /// The sign-outs that it has told its loader of.
    let oldSignOuts = Answers()
    private let log = DifferenceLog()
    private let told = Answers()

    static let patience: TimeInterval = 10

    init(serving: ShadowService.Side = .new, old: Make, new: Make) {
        service = ShadowService(
            serving: serving,
            loader: loader,
            patience: Self.patience,
            clock: clock,
            old: { [oldLoads, oldSignOuts] loader in
                old(WatchedLoader(base: loader, asked: oldLoads, signedOut: oldSignOuts))
            },
            new: new,
            onDifference: { [log, told] difference in
                log.list.withLock { $0.append(difference) }
                told.take(.failure(CancellationError()))
            }
        )
    }

    var differences: [ShadowDifference] { log.list.withLock { $0 } }

    /// Waits for differences that come without patience.
    func differences(_ count: Int) async -> [ShadowDifference] {
        await told.count(count)
        return differences
    }

    /// Lets patience end, whenever something waits for that, until there are so many differences.
    func differencesAfterPatience(_ count: Int) async -> [ShadowDifference] {
        while differences.count < count {
            if clock.pendingTimers > 0 { clock.advance(by: Self.patience) }
            await Task.yield()
        }
        return differences
    }

    /// Waits until both have answered so many calls.
    func both(answered count: Int) async {
        while service.comparedCalls + service.otherCalls < count { await Task.yield() }
    }

    func call() { service.callFromLegacyCode(then: answers.take) }

    static let queueService: Make = { loader in
        let service = AccessTokenService(loader: loader)
        return ShadowService.Candidate(service, signIn: service.signIn)
    }

    static let actorView: Make = { loader in
        let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: loader))
        return ShadowService.Candidate(CallbackServiceView(of: service), signIn: { service.signIn($0) })
    }
}

/// Tells a test that a load was asked for.
private struct WatchedLoader: AccessTokenLoader {
    let base: any AccessTokenLoader
    let asked: Answers
    let signedOut: Answers

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        base.load(replacing: old, then: handler)
        asked.take(.failure(CancellationError()))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        base.signOut(then: done)
        signedOut.take(.failure(CancellationError()))
    }
}

/// The differences that a trial has reported.
final class DifferenceLog: Sendable {
    let list = Locked<[ShadowDifference]>([])
}
