import AccessTokenContract
import Dispatch
import PublishedBugs
import Testing

@Suite("Two services on trial")
struct ShadowServiceTests {
    let first = AccessToken(value: "secret 1")
    let second = AccessToken(value: "secret 2")

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
        await trial.rest()
        trial.call()
        await trial.oldLoads.count(2)
        // Once: more of it would end the patience with the answer as well, which comes after this.
        trial.clock.advance(by: ShadowFixture.patience)
        let difference = ShadowDifference(serving: .new, .wantedLoads(0), shadow: .wantedLoads(1))
        #expect(await trial.differences(1) == [difference])
        #expect("\(difference)" == "old: loads wanted: 1; new (serving): loads wanted: 0")
        await trial.both(answered: 2)
        #expect(trial.loader.loads.count == 1)
        await trial.answers.count(2)
        #expect(trial.answers.tokens == [first, first])
    }

    @Test func `differ when the serving one makes a load that the shadow does not want`() async {
        let trial = ShadowFixture(serving: .old, old: WrongServices.loadsEachTime, new: ShadowFixture.actorView)
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
        await trial.both(answered: 1)
        trial.call()
        await trial.loader.started(2)?.answer(.success(second))
        let difference = ShadowDifference(serving: .old, .loaded(load: 2), shadow: .cached(load: 1))
        #expect(await trial.differences(1) == [difference])
        #expect("\(difference)" == "old (serving): the token of load 2; new: the cached token of load 1")
        await trial.answers.count(2)
        #expect(trial.answers.tokens == [first, second])
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

    @Test func `let the caller through when the shadow blocks`() async {
        let blocked = DispatchSemaphore(value: 0)
        let trial = ShadowFixture(
            old: { loader in
                ShadowService.Candidate(
                    BlockingService(base: AccessTokenService(loader: loader), until: blocked)
                )
            },
            new: ShadowFixture.actorView
        )
        trial.call()
        await trial.loader.started(1)?.answer(.success(first))
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
