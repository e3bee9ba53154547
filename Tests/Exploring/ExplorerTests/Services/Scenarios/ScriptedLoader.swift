import AccessTokenAsync
import AccessTokenGCD
import AccessTokenSynchronization
import InterleavingExplorer

/// Brings what the scenario says, when the schedule says so; a load that is cancelled fails, as a request would.
final class ScriptedLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    struct LoadError: Error {
        let load: Int
    }

    private let scenario: ContractScenario
    private let run: ScheduledRun
    private let recorder: Recorder
    private let loads = Protected(0)
    /// Callbacks of silent loads: kept, since a callback that is dropped is an answer.
    private let silent = Locked<[AccessTokenHandler]>([])

    init(_ scenario: ContractScenario, in run: ScheduledRun, recorder: Recorder) {
        self.scenario = scenario
        self.run = run
        self.recorder = recorder
    }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let number = start()
        guard scenario.outcome(ofLoad: number) != .silence else { return silent.withLock { $0.append(handler) } }
        run.step("load \(number) answers") { handler(self.finish(number, isCancelled: false)) }
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let number = start()
        if scenario.outcome(ofLoad: number) == .silence {
            await silence()
        }
        await run.pause("load \(number) answers")
        return try finish(number, isCancelled: Task.isCancelled).get()
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        run.effect("the loader forgets")
        done()
    }

    func signOut() async {
        run.effect("the loader forgets")
    }

    private func start() -> Int {
        let number = loads.next()
        recorder.record(.loadStarts(number))
        return number
    }

    private func finish(_ number: Int, isCancelled: Bool) -> Result<AccessToken, any Error> {
        guard !isCancelled, scenario.outcome(ofLoad: number) == .token else {
            recorder.record(.loadAnswers(number, token: nil, isCancelled: isCancelled))
            return .failure(isCancelled ? CancellationError() : LoadError(load: number))
        }
        let token = AccessToken(value: "t\(number)")
        recorder.record(.loadAnswers(number, token: token.value, isCancelled: false))
        return .success(token)
    }
}
