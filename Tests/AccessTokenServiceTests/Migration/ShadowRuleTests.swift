import AccessTokenContract
import Foundation
import Testing

/// The rule of a trial, moment by moment.
@Suite("What a trial holds for a difference", .timeLimit(.minutes(1)))
struct ShadowRuleTests {
    private let session = AccessToken(value: "session")

    // MARK: Loads that nobody was shown

    /// Who waits for nothing is told nothing, and is given the next load that it wants.
    @Test(arguments: [1, 2])
    func `is not the error of a load whose callers have gone`(_ failing: Int) {
        let trial = SteppedTrial(old: SteppedTrial.queueService(), new: SteppedTrial.queueService())
        trial.signIn(session)
        trial.call()
        var token = session
        for load in 1..<failing {
            trial.invalidate(token)
            trial.call()
            token = AccessToken(value: "\(load)")
            trial.answer(load, .success(token))
        }
        trial.invalidate(token)
        trial.call().cancel()
        trial.run()
        trial.answer(failing, .failure(ContractLoadError(number: failing)))
        trial.endPatience(3)
        trial.call()
        trial.answer(failing + 1, .success(AccessToken(value: "after it")))
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == failing + 1)
        #expect(trial.service.otherCalls == 1)
        #expect(trial.loads == failing + 1)
    }

    /// The serving one wanted it before a sign-in that it was given meanwhile, and does not take its token.
    @Test func `is not the token of a load that began in the former session`() {
        let service = SteppedTrial.queueService()
        let trial = SteppedTrial(
            old: { loader, queue in service(LateLoader(base: loader, queue: queue), queue) },
            new: service
        )
        trial.service.callFromLegacyCode(then: trial.answers.take)
        trial.run(but: trial.oldQueue, trial.newQueue)
        // The serving one wants a load, and asks a loader for it that asks the trial's a moment later.
        for _ in 0..<2 { #expect(trial.oldQueue.step()) }
        trial.signIn(session)
        trial.answer(1, .success(validToken))
        trial.invalidate(session)
        trial.service.callFromLegacyCode(then: trial.answers.take)
        trial.run(but: trial.oldQueue)
        trial.run()
        trial.answer(2, .success(AccessToken(value: "second")))
        trial.endPatience(3)
        #expect(trial.loads == 2)
        #expect(trial.differences == [])
        #expect(trial.answers.tokens.last == AccessToken(value: "second"))
    }

    // MARK: Silence

    @Test func `is silence, when patience has ended`() {
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(),
            new: SteppedTrial.queueService { $0 == 2 ? nil : $1 }
        )
        trial.call()
        trial.answer(1, .success(validToken))
        trial.call()
        // It was given the call when the serving one had answered, and has all of its patience from then on.
        trial.endPatience()
        #expect(trial.differences == [])
        trial.endPatience()
        #expect(trial.differences == [ShadowDifference(serving: .old, .cached(load: 1), shadow: .silent)])
        #expect(trial.clock.pendingTimers == 0)
    }

    /// The first load of a session is the shadow's when a caller was shown it; the others are at once.
    @Test func `is the silence of the serving one about a later load of its session`() {
        let trial = SteppedTrial(
            old: SteppedTrial.queueService { $0 == 2 ? nil : $1 },
            new: SteppedTrial.queueService()
        )
        trial.signIn(session)
        trial.invalidate(session)
        trial.call()
        trial.answer(1, .success(AccessToken(value: "1")))
        trial.invalidate(AccessToken(value: "1"))
        trial.call()
        trial.answer(2, .success(AccessToken(value: "2")))
        trial.endPatience(2)
        #expect(trial.differences == [ShadowDifference(serving: .old, .silent, shadow: .loaded(load: 2))])
    }

    /// The shadow wants a load where the serving one sees no need, and is not given what was rejected since.
    @Test func `is not a token that was rejected while the shadow waited`() {
        let (early, late) = (ManualClock(), ManualClock())
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(clock: late),
            new: SteppedTrial.queueService(clock: early)
        )
        trial.call()
        let token = AccessToken(value: "first", expiration: late.now + 100)
        trial.answer(1, .success(token))
        early.advance(by: 100)
        trial.call()
        trial.invalidate(token)
        late.advance(by: 100)
        trial.endPatience(3)
        // The shadow's caller does not wait for good.
        #expect(trial.service.comparedCalls + trial.service.otherCalls == 2)
        trial.call()
        trial.answer(2, .success(validToken))
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == 2)
    }

    /// The serving one waits for its load, and the shadow sees no need of one yet.
    @Test func `is not the silence of a service whose load is running`() {
        let (early, late) = (ManualClock(), ManualClock())
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(clock: early),
            new: SteppedTrial.queueService(clock: late)
        )
        trial.call()
        trial.answer(1, .success(AccessToken(value: "first", expiration: late.now + 100)))
        early.advance(by: 100)
        trial.call()
        trial.endPatience(5)
        #expect(trial.loads == 2 && trial.service.comparedCalls == 1)
        #expect(trial.differences == [])
        trial.answer(2, .success(validToken))
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.otherCalls == 1)
        #expect(trial.clock.pendingTimers == 0)
    }

    /// The serving one loads behind, and the shadow waits for that load.
    @Test func `is not the wait of a shadow for a load that is running`() {
        let (early, late) = (ManualClock(), ManualClock())
        let policy = AccessTokenPolicy(leeway: 0, refreshAhead: 50, loadDeadline: nil)
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(policy, clock: late),
            new: SteppedTrial.queueService(clock: early)
        )
        trial.call()
        trial.answer(1, .success(AccessToken(value: "first", expiration: late.now + 100)))
        late.advance(by: 60)
        early.advance(by: 100)
        trial.call()
        trial.call()
        trial.endPatience(5)
        #expect(trial.loads == 2 && trial.service.comparedCalls == 1)
        #expect(trial.differences == [])
        trial.answer(2, .success(validToken))
        trial.call()
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == 2)
    }

    /// An app that was suspended finds a timer due before anything else has run.
    @Test func `is not the silence of a suspended app`() {
        let clock = SuspendedClock()
        let trial = SteppedTrial(
            patienceClock: clock,
            old: SteppedTrial.queueService(),
            new: SteppedTrial.queueService()
        )
        trial.call()
        trial.answer(1, .success(validToken))
        // Nothing of the first call is waited for any more.
        for _ in 0..<4 { clock.wakeUp() }
        trial.service.callFromLegacyCode(then: trial.answers.take)
        trial.run(but: trial.shadowInputs)
        clock.wakeUp()
        trial.run()
        clock.wakeUp()
        trial.run()
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == 2)
    }

    /// However long it lasts: one timer for the answers that are missing, and one for each load that the shadow wants.
    @Test func `is waited for with one timer`() {
        let (early, late) = (ManualClock(), ManualClock())
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(clock: early),
            new: SteppedTrial.queueService(clock: late)
        )
        trial.call()
        trial.answer(1, .success(AccessToken(value: "first", expiration: late.now + 100)))
        trial.endPatience()
        #expect(trial.clock.pendingTimers == 0)
        early.advance(by: 100)
        for _ in 0..<100 {
            trial.call()
            #expect(trial.clock.pendingTimers == 1)
            trial.endPatience()
        }
        #expect(trial.loads == 2)
        trial.answer(2, .success(validToken))
        for _ in 0..<100 { trial.call() }
        #expect(trial.clock.pendingTimers <= 2)
        trial.endPatience(2)
        #expect(trial.clock.pendingTimers == 0)
    }

    // MARK: Errors of a service's own

    private struct OwnError: Error {}

    /// Both have the app's own error, which no load has brought.
    @Test func `is not an error that both translate`() {
        let translating = SteppedTrial.queueService { $1.mapError { _ in OwnError() } }
        let trial = SteppedTrial(old: translating, new: translating)
        for load in 1...3 {
            // The shadow wants a load before the serving one makes it.
            trial.service.callFromLegacyCode(then: trial.answers.take)
            trial.run(but: trial.oldQueue)
            trial.run()
            trial.answer(load, load < 3 ? .failure(ContractLoadError(number: load)) : .success(validToken))
        }
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == 3)
    }

    /// A caller comes when the load has failed, and only the serving one knows of that.
    @Test func `is not an error that both translate, and of which one knows a moment later`() {
        let translating = SteppedTrial.queueService { $1.mapError { _ in OwnError() } }
        let trial = SteppedTrial(old: translating) { loader, queue in
            translating(LateLoader(base: loader, queue: queue), queue)
        }
        trial.call()
        trial.bring(.failure(ContractLoadError(number: 1)), from: 1)
        trial.run(but: trial.newQueue)
        trial.service.callFromLegacyCode(then: trial.answers.take)
        trial.run(but: trial.newQueue)
        trial.run()
        trial.answer(2, .success(validToken))
        trial.endPatience(3)
        #expect(trial.loads == 2)
        #expect(trial.differences == [])
        #expect(trial.service.otherCalls == 1)
    }

    @Test func `is an error that only one translates, each time`() {
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(),
            new: SteppedTrial.queueService { $1.mapError { _ in OwnError() } }
        )
        let difference = ShadowDifference(serving: .old, .failed("ContractLoadError"), shadow: .failed("OwnError"))
        for load in [1, 3] {
            trial.service.callFromLegacyCode(then: trial.answers.take)
            trial.run(but: trial.oldQueue)
            trial.run()
            trial.answer(load, .failure(ContractLoadError(number: load)))
            trial.service.callFromLegacyCode(then: trial.answers.take)
            trial.run(but: trial.oldQueue)
            trial.run()
            let token = AccessToken(value: "\(load)")
            trial.answer(load + 1, .success(token))
            trial.call()
            trial.invalidate(token)
        }
        trial.endPatience(3)
        #expect(trial.differences == [difference, difference])
        #expect(trial.loads == 4)
    }

    // MARK: Memory

    /// The token is older than all loads that are remembered, and still valid.
    @Test func `is not a token that outlived many failed loads behind it`() {
        let (early, late) = (ManualClock(), ManualClock())
        let policy = AccessTokenPolicy(leeway: 0, refreshAhead: 500, loadDeadline: nil)
        let trial = SteppedTrial(
            old: SteppedTrial.queueService(policy, clock: early),
            new: SteppedTrial.queueService(policy, clock: late)
        )
        trial.call()
        trial.answer(1, .success(AccessToken(value: "first", expiration: late.now + 1000)))
        early.advance(by: 600)
        for load in 2...40 {
            trial.call()
            trial.answer(load, .failure(ContractLoadError(number: load)))
        }
        trial.call()
        trial.answer(41, .success(validToken))
        trial.call()
        #expect(trial.service.otherCalls == 1)
        late.advance(by: 600)
        trial.call()
        trial.endPatience(3)
        trial.call()
        #expect(trial.answers.tokens.last == validToken)
        #expect(trial.differences == [])
        #expect(trial.service.comparedCalls == 42)
    }

    /// The first of many loads that were given up answers after all, and the serving one adopts that (T2).
    @Test func `is not the late answer of a forgotten load`() {
        let clock = ManualClock()
        let service = SteppedTrial.queueService(AccessTokenPolicy(leeway: 0, loadDeadline: 60), clock: clock)
        let trial = SteppedTrial(old: service, new: service)
        for _ in 1...40 {
            trial.call()
            clock.advance(by: 60)
            trial.run()
        }
        trial.answer(1, .success(validToken))
        trial.call()
        trial.endPatience(3)
        #expect(trial.answers.tokens == [validToken])
        #expect(trial.loads == 40)
        #expect(trial.differences == [])
        // They are in step again with the next load.
        clock.advance(by: 60)
        trial.run()
        trial.invalidate(validToken)
        trial.call()
        trial.answer(41, .success(session))
        trial.call()
        #expect(trial.service.comparedCalls == 42)
    }

    @Test func `is remembered no longer than it is needed`() {
        let clock = ManualClock()
        let service = SteppedTrial.queueService(
            AccessTokenPolicy(leeway: 0, refreshAhead: 500, loadDeadline: nil),
            clock: clock
        )
        let trial = SteppedTrial(old: service, new: service)
        for number in 1...100 {
            trial.signIn(AccessToken(value: "\(number)", expiration: clock.now + 1000))
            clock.advance(by: 600)
            trial.call()
            // Every second load is silent for good.
            if number.isMultiple(of: 2) { trial.answer(number, .failure(ContractLoadError(number: number))) }
            trial.endPatience()
            if number.isMultiple(of: 3) { trial.service.signOut {} }
            trial.call().cancel()
            trial.run()
        }
        trial.endPatience(3)
        #expect(trial.differences == [])
        #expect(trial.service.rememberedFacts <= 4 * 16)
        #expect(trial.clock.pendingTimers <= 16)
    }
}

/// Lets what came before, on the queue of a service, come before its load and before its answer.
private struct LateLoader: AccessTokenLoader {
    let base: any AccessTokenLoader
    let queue: SteppedQueue

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        queue.enqueue {
            base.load(replacing: old) { result in
                queue.enqueue { handler(result) }
            }
        }
    }
}

/// Shows every timer as due when the app wakes up, and none before.
private final class SuspendedClock: AccessTokenClock {
    private let timers = Locked<[@Sendable () -> Void]>([])

    let now = Date(timeIntervalSince1970: 1_800_000_000)

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        timers.withLock { $0.append(action) }
        return AccessTokenTimer {}
    }

    /// What was to be fired meanwhile is due all at once, and nothing that it leads to.
    func wakeUp() {
        let due = timers.withLock { timers in
            defer { timers = [] }
            return timers
        }
        for action in due { action() }
    }
}
