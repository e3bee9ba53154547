import AccessTokenContract
import Dispatch
import Testing

/// What two right services do at the same time is never a difference, however it falls.
@Suite("Two right services on trial, everything at once", .serialized, .timeLimit(.minutes(5)))
struct ShadowStressTests {
    @Test(arguments: [ShadowService.Side.old, .new])
    func `differ in nothing, and are compared again when it is over`(_ serving: ShadowService.Side) async {
        let differences = Locked<[ShadowDifference]>([])
        let clock = ManualClock()
        let service = ShadowService(
            serving: serving,
            loader: StressTests.BusyLoader(),
            patience: ShadowFixture.patience,
            clock: clock,
            old: ShadowFixture.queueService,
            new: ShadowFixture.actorView,
            onDifference: { difference in differences.withLock { $0.append(difference) } }
        )
        let (rounds, callers) = (20, 100)
        let answers = Answers()
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for round in 0..<rounds {
                        let retrieval = service.callFromLegacyCode { result in
                            answers.take(result)
                            guard caller.isMultiple(of: 10), case .success(let token) = result else { return }
                            service.invalidate(token)
                        }
                        if caller % 10 == 1 { retrieval.cancel() }
                        if caller == 2, round.isMultiple(of: 3) { service.signOut {} }
                        if caller == 2, round % 3 == 1 { service.signIn(AccessToken(value: "session \(round)")) }
                        await Task.yield()
                    }
                }
            }
        }
        await answers.count(rounds * callers)
        await both(of: service, answered: rounds * callers, by: clock)

        // At rest, one call brings them into step again, and all that follow count.
        service.signIn(AccessToken(value: "last session"))
        var calls = rounds * callers
        let comparedBefore = service.comparedCalls
        while service.comparedCalls < comparedBefore + 10 {
            service.callFromLegacyCode(then: answers.take)
            calls += 1
            await both(of: service, answered: calls, by: clock)
        }
        #expect(differences.withLock { $0 } == [])
    }

    /// Patience ends only where nothing else can go on, however busy the machine is.
    private func both(of service: ShadowService, answered count: Int, by clock: ManualClock) async {
        while service.comparedCalls + service.otherCalls < count {
            if service.isWaitingForPatience { clock.advance(by: ShadowFixture.patience) }
            await Task.detached(priority: .low) {}.value
        }
    }
}
