import AccessTokenAdapters
import InterleavingExplorer

/// Two services on trial, with everything between them under control.
struct ExploredTrial: Sendable, CustomStringConvertible {
    let serving: TrialSide
    let shadow: TrialSide

    var description: String { "\(serving) serves, and \(shadow) is its shadow" }

    /// What a run came to, when patience has ended as well.
    struct Outcome: Sendable {
        let differences: [ShadowDifference]
        /// Whether the last caller of all, when the two had come to rest, got the same answer from both.
        let endsAlike: Bool
        /// What the callers saw, and whether that keeps the contract.
        let history: History
    }

    func scenario(
        _ scenario: ContractScenario,
        judge: @escaping @Sendable (Outcome) throws -> Void
    ) -> Scenario {
        Scenario("\(scenario), where \(self)") { run in
            let differences = Locked<[ShadowDifference]>([])
            let trial = Locked<ShadowService?>(nil)
            // Patience is longer than anything that the schedule brings.
            let clock = ManualClock()
            let subject = Subject("\(self)", isByHandlers: true) { surroundings in
                let stage = surroundings.stage
                let service = ShadowService(
                    serving: .old,
                    loader: surroundings.loader,
                    patience: 10,
                    clock: clock,
                    queues: ShadowQueues(
                        serving: stage.queue("inputs"),
                        shadow: stage.queue("shadow"),
                        reports: stage.queue("reports")
                    ),
                    old: { serving.make(surroundings, $0) },
                    new: { shadow.make(surroundings, $0) },
                    onDifference: { difference in differences.withLock { $0.append(difference) } }
                )
                trial.withLock { $0 = service }
                return Subject.Service(provider: .callback(service), signIn: { service.signIn($0) })
            }
            let play = Play(scenario, with: subject, on: ExploredStage(run: run))
            play.begin()
            run.permitUnfinishedTasks()
            run.invariant("the trial keeps its promises") {
                let history = play.history
                var comparedBefore = 0
                for _ in 0..<2 {
                    comparedBefore = trial.withLock { $0?.comparedCalls ?? 0 }
                    // Whoever calls next: only then can it be seen that one of the two has made a load in vain.
                    trial.withLock { $0 }?.callFromLegacyCode { _ in }
                    for _ in 0..<3 {
                        for _ in 0..<7 { await run.pause("what follows") }
                        clock.advance(by: 10)
                    }
                }
                for _ in 0..<3 { await run.pause("what follows") }
                let outcome = Outcome(
                    differences: differences.withLock { $0 },
                    endsAlike: trial.withLock { $0?.comparedCalls ?? 0 } > comparedBefore,
                    history: history
                )
                try judge(outcome)
                return true
            }
        }
    }
}

struct UnexpectedOutcome: Error, CustomStringConvertible {
    let description: String
}

extension AccessTokenProviding {
    /// A call as legacy code makes it; in an async function the compiler would suggest `token()` instead.
    fileprivate func callFromLegacyCode(then handler: @escaping AccessTokenHandler) {
        retrieveToken(then: handler)
    }
}
