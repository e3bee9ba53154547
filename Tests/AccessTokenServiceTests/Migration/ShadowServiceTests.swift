import AccessTokenContract
import Dispatch
import Foundation
import PublishedBugs
import Testing

@Suite("Two services on trial", .timeLimit(.minutes(1)))
struct ShadowServiceTests {
    let first = AccessToken(value: "secret 1")
    let second = AccessToken(value: "secret 2")
    let third = AccessToken(value: "secret 3")

    @Test(arguments: [ShadowService.Side.old, .new])
    func `that both are right share one load, and differ in nothing`(_ serving: ShadowService.Side) async {
        let trial = ShadowFixture(
            serving: serving,
            old: ShadowFixture.queueService,
            new: ShadowFixture.actorView
        )
        for _ in 0..<5 { trial.call() }
        await trial.loader.started(1)?.answer(.success(first))
        await trial.both(answered: 5)
        trial.call()
        await trial.both(answered: 6)
        trial.service.invalidate(first)
        trial.call()
        await trial.loader.started(2)?.answer(.failure(ContractLoadError(number: 2)))
        await trial.both(answered: 7)
        trial.call()
        await trial.loader.started(3)?.answer(.success(second))
        await trial.both(answered: 8)
        trial.service.signOut {}
        trial.call()
        await trial.both(answered: 9)
        trial.service.signIn(first)
        trial.call()
        await trial.both(answered: 10)
        #expect(trial.service.comparedCalls == 10)
        #expect(trial.differences == [])
        #expect(trial.loader.loads.count == 3)
        await trial.answers.count(10)
        #expect(trial.answers.tokens.map(\.value) == Array(repeating: "secret 1", count: 6) + ["secret 2", "secret 1"])
    }

    @Test func `differ when the shadow wants a load that the serving one does not make`() async {
        let trial = ShadowFixture(old: WrongServices.loadsEachTime, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        await trial.both(answered: 1)
        trial.call()
        await trial.oldLoads.count(2)
        // Whoever calls now comes after the shadow has wanted a load: the token has not expired in between.
        trial.call()
        await trial.answers.count(3)
        let difference = ShadowDifference(serving: .new, .cached(load: 1), shadow: .wantedLoad)
        #expect(await trial.differencesAfterPatience(1) == [difference])
        #expect("\(difference)" == "old: a load wanted; new (serving): the cached token of load 1")
        await trial.both(answered: 3)
        #expect(trial.loader.loads.count == 1)
        #expect(trial.answers.tokens == [first, first, first])
    }

    @Test func `differ when the serving one makes a load that the shadow does not want`() async {
        let trial = ShadowFixture(serving: .old, old: WrongServices.loadsEachTime, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        await trial.both(answered: 1)
        trial.call()
        await trial.loader.started(2)?.answer(.success(second))
        await trial.both(answered: 2)
        #expect(trial.differences == [])
        trial.call()
        await trial.loader.started(3)?.answer(.success(third))
        let difference = ShadowDifference(serving: .old, .loaded(load: 3), shadow: .cached(load: 1))
        #expect(await trial.differencesAfterPatience(1) == [difference])
        #expect("\(difference)" == "old (serving): the token of load 3; new: the cached token of load 1")
        #expect(trial.answers.tokens == [first, second, third])
    }

    @Test func `differ in nothing when one sees a token expire a moment before the other`() async {
        let (oldClock, newClock) = (ManualClock(), ManualClock())
        let trial = ShadowFixture(
            old: queueService(leeway: 0, clock: oldClock),
            new: queueService(leeway: 0, clock: newClock)
        )
        trial.call()
        await trial.loader.started(1)?.answer(.success(token("secret 1", validFor: 100, by: newClock)))
        await trial.both(answered: 1)
        oldClock.advance(by: 100)
        trial.call()
        await trial.answers.count(2)
        await trial.oldLoads.count(2)
        // Nobody has called since the shadow wants a load, so that it proves nothing.
        for _ in 0..<2 { trial.clock.advance(by: ShadowFixture.patience) }
        newClock.advance(by: 100)
        trial.call()
        await trial.loader.started(2)?.answer(.success(token("secret 2", validFor: 100, by: newClock)))
        await trial.both(answered: 3)
        trial.clock.advance(by: ShadowFixture.patience)
        #expect(trial.answers.tokens.map(\.value) == ["secret 1", "secret 1", "secret 2"])
        #expect(trial.differences == [])
    }

    @Test func `differ when one goes on with a token for longer than the other`() async {
        let clock = ManualClock()
        let trial = ShadowFixture(
            old: queueService(leeway: 0, clock: clock),
            new: queueService(leeway: 30, clock: clock)
        )
        trial.call()
        // Who is given a token late counts its life from later on, and proves nothing.
        while !trial.service.isShadowLoading { await Task.yield() }
        await trial.loader.started(1)?.answer(.success(token("secret 1", validFor: 100, by: clock)))
        await trial.both(answered: 1)
        clock.advance(by: 80)
        trial.call()
        await trial.loader.started(2)?.answer(.success(token("secret 2", validFor: 100, by: clock)))
        await trial.both(answered: 2)
        trial.call()
        let difference = ShadowDifference(serving: .new, .cached(load: 2), shadow: .cached(load: 1))
        #expect(await trial.differencesAfterPatience(1) == [difference])
    }

    private func queueService(leeway: TimeInterval, clock: ManualClock) -> ShadowFixture.Make {
        { loader in
            let policy = AccessTokenPolicy(leeway: leeway)
            let service = AccessTokenService(loader: loader, policy: policy, clock: clock)
            return ShadowService.Candidate(service, signIn: service.signIn)
        }
    }

    private func token(_ value: String, validFor seconds: TimeInterval, by clock: ManualClock) -> AccessToken {
        AccessToken(value: value, expiration: clock.now.addingTimeInterval(seconds))
    }

    @Test func `differ when one keeps its first error`() async {
        let trial = ShadowFixture(old: WrongServices.keepsItsFirstError, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.failure(ContractLoadError(number: 1)))
        await trial.both(answered: 1)
        trial.call()
        await trial.loader.started(2)?.answer(.success(second))
        let difference = ShadowDifference(serving: .new, .loaded(load: 2), shadow: .failed("ContractLoadError"))
        #expect(await trial.differences(1) == [difference])
    }

    @Test func `differ when one undoes a sign-out`() async {
        let trial = ShadowFixture(old: WrongServices.undoesSignOut, new: ShadowFixture.actorView)
        trial.call()
        let load = await trial.loader.started(1)
        await trial.oldLoads.count(1)
        trial.service.signOut {}
        await trial.oldSignOuts.count(1)
        load?.answer(.success(first))
        await trial.both(answered: 1)
        trial.call()
        let difference = ShadowDifference(serving: .new, .failed("signedOut"), shadow: .cached(load: 1))
        #expect(await trial.differences(1) == [difference])
        await trial.answers.count(2)
        #expect(trial.answers.tokens == [])
    }

    @Test func `differ when one answers a call with a load that its session did not outlive`() async {
        let trial = ShadowFixture(
            serving: .old,
            old: WrongServices.loadsEachTime,
            new: ShadowFixture.actorView
        )
        trial.call()
        let load = await trial.loader.started(1)
        while !trial.service.isShadowLoading { await Task.yield() }
        trial.service.signIn(second)
        load?.answer(.success(first))
        let difference = ShadowDifference(serving: .old, .loaded(load: 1), shadow: .cached(load: nil))
        #expect(await trial.differences(1) == [difference])
    }

    @Test func `differ once, until they answer alike again`() async {
        let trial = ShadowFixture(
            old: { loader in
                ShadowService.Candidate(
                    WrongService(AccessTokenService(loader: loader)) { number, result in
                        number == 3 ? result : result.map { _ in AccessToken(value: "another") }
                    }
                )
            },
            new: ShadowFixture.actorView
        )
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        await trial.both(answered: 1)
        for number in 2...4 {
            trial.call()
            await trial.both(answered: number)
        }
        #expect(await trial.differences(2).count == 2)
        #expect(trial.service.otherCalls == 1)
    }

    @Test func `differ when one never answers`() async {
        let trial = ShadowFixture(old: WrongServices.losesEverySecondHandler, new: ShadowFixture.actorView)
        trial.call()
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        await trial.answers.count(2)
        await trial.both(answered: 1)
        let difference = ShadowDifference(serving: .new, .loaded(load: 1), shadow: .silent)
        #expect(await trial.differencesAfterPatience(1) == [difference])
    }

    @Test func `differ when they give different errors, of which no text is told`() async {
        let trial = ShadowFixture(old: WrongServices.translatesErrors, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.failure(ContractLoadError(number: 1)))
        let difference = ShadowDifference(serving: .new, .failed("ContractLoadError"), shadow: .failed("OwnError"))
        #expect(await trial.differences(1) == [difference])
    }

    @Test func `differ when they give different tokens, of which none is told`() async {
        let trial = ShadowFixture(old: WrongServices.givesAnotherToken, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        let difference = ShadowDifference(serving: .new, .loaded(load: 1), shadow: .cached(load: nil))
        #expect(await trial.differences(1) == [difference])
        #expect(!String(reflecting: difference).contains("secret"))
        await trial.answers.count(1)
        #expect(trial.answers.tokens == [first])
    }

    /// With a first call, whose load is answered.
    private func trial(besideOneThatBlocksUntil blocked: DispatchSemaphore) async -> ShadowFixture {
        let trial = ShadowFixture(
            old: { ShadowService.Candidate(BlockingService(base: AccessTokenService(loader: $0), until: blocked)) },
            new: ShadowFixture.actorView
        )
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        return trial
    }

    @Test func `let the caller through when the shadow blocks`() async {
        let blocked = DispatchSemaphore(value: 0)
        let trial = await trial(besideOneThatBlocksUntil: blocked)
        await trial.answers.count(1)
        #expect(trial.answers.tokens == [first])
        blocked.signal()
        await trial.both(answered: 1)
    }

    @Test(arguments: [ShadowService.Side.old, .new])
    func `pass a cancellation on to both, and the serving one's sign-out to the loader`(
        _ serving: ShadowService.Side
    ) async {
        let trial = ShadowFixture(serving: serving, old: ShadowFixture.queueService, new: ShadowFixture.actorView)
        trial.call()
        let retrieval = trial.service.callFromLegacyCode(then: trial.answers.take)
        _ = await trial.loader.started(1)
        retrieval.cancel()
        await trial.answers.count(1)
        #expect(trial.answers.tokens.isEmpty)
        await withCheckedContinuation { continuation in
            trial.service.signOut { continuation.resume() }
        }
        await trial.both(answered: 2)
        await trial.answers.count(2)
        #expect(trial.answers.results.allSatisfy { (try? $0.get()) == nil })
        #expect(trial.loader.signOuts == 1)
        #expect(trial.differences == [])
    }

    @Test func `refuse the loader of the serving one that asks it, and are not compared in that (R1)`() async throws {
        let asked = Answers()
        let trial = Locked<ShadowService?>(nil)
        let loader = CallbackLoaderView(
            of: AskingLoader { try await #require(trial.withLock { $0 }).token() }
        )
        let differences = Locked<[ShadowDifference]>([])
        let service = ShadowService(
            serving: .new,
            loader: loader,
            clock: ManualClock(),
            old: ShadowFixture.queueService,
            new: ShadowFixture.actorView,
            onDifference: { difference in differences.withLock { $0.append(difference) } }
        )
        trial.withLock { $0 = service }
        service.callFromLegacyCode(then: asked.take)
        await asked.count(1)
        #expect(hasFailed(asked.results[0], with: .loadAskedItsOwnService))
        while service.comparedCalls + service.otherCalls < 2 { await Task.yield() }
        #expect(service.otherCalls >= 1)
        #expect(differences.withLock { $0 } == [])
    }

    @Test func `go on with one of them when the other has stopped for good`() async {
        let blocked = DispatchSemaphore(value: 0)
        let trial = await trial(besideOneThatBlocksUntil: blocked)
        for _ in 0..<10_010 { trial.call() }
        await trial.answers.count(10_011)
        #expect(trial.answers.tokens.allSatisfy { $0 == first })
        #expect(trial.service.otherCalls == 10_011)
        for _ in 0..<10_011 { blocked.signal() }
    }
}

/// Asks the service that is loading.
private struct AskingLoader: AsyncAccessTokenLoader {
    let ask: @Sendable () async throws -> AccessToken

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        try await ask()
    }
}

/// A service that blocks its first caller.
private final class BlockingService: AccessTokenProviding {
    private let base: any AccessTokenProviding
    private let gate: DispatchSemaphore

    init(base: any AccessTokenProviding, until gate: DispatchSemaphore) {
        self.base = base
        self.gate = gate
    }

    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        gate.wait()
        return base.retrieveToken(then: handler)
    }

    func invalidate(_ rejected: AccessToken) { base.invalidate(rejected) }
    func signOut(then done: @escaping @Sendable () -> Void) { base.signOut(then: done) }
}
