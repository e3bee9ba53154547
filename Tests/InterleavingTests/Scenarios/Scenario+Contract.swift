import InterleavingExplorer

extension Scenario {
    /// A scenario of the contract for the explorer; it fails with the first rule that is broken.
    init(_ scenario: ContractScenario, with subject: Subject) {
        self.init("\(scenario), on \(subject)") { run in
            let play = Play(scenario, with: subject, on: ExploredStage(run: run))
            play.begin()
            // Nobody answers a silent load.
            if scenario.loads.contains(.silence) { run.permitUnfinishedTasks() }
            run.invariant("the contract is kept") {
                if let broken = play.history.brokenRule { throw broken }
                return true
            }
        }
    }
}
