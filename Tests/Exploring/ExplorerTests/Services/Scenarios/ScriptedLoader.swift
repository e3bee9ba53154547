import AccessTokenAsync
import AccessTokenGCD
import Foundation

/// Brings what the scenario says, when the stage says so; a load that is cancelled fails, as a request would.
final class ScriptedLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    struct LoadError: Error {
        let load: Int
    }

    private let scenario: ContractScenario
    private let stage: any Stage
    private let recorder: Recorder
    private let loads = Locked(0)
    /// Callbacks of silent loads: kept, since a callback that is dropped is an answer.
    private let silent = Locked<[AccessTokenHandler]>([])

    init(_ scenario: ContractScenario, on stage: any Stage, recorder: Recorder) {
        self.scenario = scenario
        self.stage = stage
        self.recorder = recorder
    }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let number = start()
        guard scenario.outcome(ofLoad: number) != .silence else { return silent.withLock { $0.append(handler) } }
        stage.step("load \(number) answers") { handler(self.finish(number, isCancelled: false)) }
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let number = start()
        if scenario.outcome(ofLoad: number) == .silence {
            // A task that no code can resume any more: silence for good.
            await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        await stage.pause("load \(number) answers")
        return try finish(number, isCancelled: Task.isCancelled).get()
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        stage.notice("the loader forgets")
        done()
    }

    func signOut() async {
        stage.notice("the loader forgets")
    }

    private func start() -> Int {
        let number = loads.withLock { loads in
            loads += 1
            return loads
        }
        recorder.record(.loadStarts(number))
        return number
    }

    private func finish(_ number: Int, isCancelled: Bool) -> Result<AccessToken, any Error> {
        guard !isCancelled, scenario.outcome(ofLoad: number) == .token else {
            recorder.record(.loadAnswers(number, token: nil, isCancelled: isCancelled))
            return .failure(isCancelled ? CancellationError() : LoadError(load: number))
        }
        let expiration = scenario.refreshesAhead ? stage.clock.now + ContractScenario.life : nil
        let token = AccessToken(value: "t\(number)", expiration: expiration)
        recorder.record(.loadAnswers(number, token: token.value, isCancelled: false))
        return .success(token)
    }
}
