import AccessTokenAsync
import AccessTokenGCD
import Foundation

/// A scenario that is being played on a service.
final class Play: Sendable {
    private let scenario: ContractScenario
    private let stage: any Stage
    private let recorder: Recorder
    /// The only reference to the service, but for those of the service itself and of calls that are under way.
    private let service: Locked<Subject.Service?>
    private let ended = Locked(0)

    /// Makes the service; ``begin()`` raises the curtain.
    init(_ scenario: ContractScenario, with subject: Subject, on stage: any Stage) {
        self.scenario = scenario
        self.stage = stage
        let recorder = Recorder(stage, isByHandlers: subject.isByHandlers, cancelledCallers: scenario.cancelled)
        self.recorder = recorder
        let surroundings = Subject.Surroundings(
            stage: stage,
            loader: ScriptedLoader(scenario, on: stage, recorder: recorder),
            clock: RecordingClock(clock: stage.clock, recorder: recorder),
            policy: scenario.policy
        )
        service = Locked(subject.make(surroundings))
    }

    func begin() {
        for (index, moves) in scenario.parts.enumerated() {
            let isCancelled = scenario.cancelled.contains(index)
            switch service.withLock({ $0?.provider }) {
            case .async:
                stage.part("part \(index + 1)", isCancelled: isCancelled) {
                    await self.perform(moves, as: index)
                    self.ended.withLock { $0 += 1 }
                }
            case .callback:
                stage.part("part \(index + 1)", isCancelled: false) {
                    await unsafe withUnsafeContinuation { continuation in
                        self.perform(moves[...], of: index, call: 0, told: nil) { unsafe continuation.resume() }
                    }
                    self.ended.withLock { $0 += 1 }
                }
            case nil:
                break
            }
        }
    }

    /// Whether every part has come to its end.
    var hasEnded: Bool {
        ended.withLock { $0 } == scenario.parts.count
    }

    /// What happened, when all is over.
    var history: History {
        let currentToken = service.withLock { $0?.currentToken }
        return recorder.finished(with: currentToken.map { $0()?.value })
    }

    // MARK: A part that is a task

    private func perform(_ moves: [ContractScenario.Move], as index: Int) async {
        var number = 0
        var told: AccessToken?
        for move in moves {
            guard let service = service.withLock({ $0 }), case .async(let provider) = service.provider else { return }
            switch move {
            case .ask:
                let call = History.Call(caller: index, number: number)
                number += 1
                recorder.record(.asks(call, isCancelled: Task.isCancelled))
                let result = await Result { () async throws in try await provider.token() }
                recorder.recordQuietly(.answered(call, History.Answer(result)))
                told = (try? result.get()) ?? told
            case .wait:
                await stage.pause("part \(index + 1) goes on")
            case .rest:
                await withCheckedContinuation { continuation in
                    _ = stage.clock.schedule(after: ContractScenario.rest) { continuation.resume() }
                }
            case .reject:
                guard let told else { break }
                recorder.record(.rejects(told.value))
                await provider.invalidate(told)
                recorder.record(.rejected(told.value))
            case .signOut:
                recorder.record(.signsOut)
                await provider.signOut()
                recorder.record(.signedOut)
            case .signIn(let value):
                recorder.record(.signsIn(value))
                await service.signIn(AccessToken(value: value))
                recorder.record(.signedIn(value))
            case .drop:
                drop()
            }
        }
    }

    // MARK: A part that is a chain of handlers

    private func perform(
        _ moves: ArraySlice<ContractScenario.Move>,
        of index: Int,
        call number: Int,
        told: AccessToken?,
        then done: @escaping @Sendable () -> Void
    ) {
        guard let move = moves.first, let service = service.withLock({ $0 }),
            case .callback(let provider) = service.provider
        else { return done() }
        let rest = moves.dropFirst()
        switch move {
        case .ask:
            let call = History.Call(caller: index, number: number)
            let isFirstAnswer = Locked(true)
            let handler: AccessTokenHandler = { result in
                self.recorder.record(.answered(call, History.Answer(result)))
                let isFirst = isFirstAnswer.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else { return }
                self.perform(rest, of: index, call: number + 1, told: (try? result.get()) ?? told, then: done)
            }
            let retrieval = recorder.record(.asks(call, isCancelled: false)) {
                provider.retrieveToken(then: handler)
            }
            if scenario.cancelled.contains(index), number == 0 {
                stage.step("cancels part \(index + 1)") { retrieval.cancel() }
            }
        case .wait:
            stage.step("part \(index + 1) goes on") {
                self.perform(rest, of: index, call: number, told: told, then: done)
            }
        case .rest:
            _ = stage.clock.schedule(after: ContractScenario.rest) {
                self.perform(rest, of: index, call: number, told: told, then: done)
            }
        case .reject:
            if let told {
                recorder.record(.rejects(told.value)) { provider.invalidate(told) }
                recorder.record(.rejected(told.value))
            }
            perform(rest, of: index, call: number, told: told, then: done)
        case .signOut:
            recorder.record(.signsOut, ending: service.signsOutAtOnce ? .signedOut : nil) {
                provider.signOut {
                    if !service.signsOutAtOnce { self.recorder.record(.signedOut) }
                    self.perform(rest, of: index, call: number, told: told, then: done)
                }
            }
        case .signIn(let value):
            recorder.record(.signsIn(value)) {
                service.signInFromHandler(AccessToken(value: value)) { self.recorder.recordQuietly(.signedIn(value)) }
            }
            perform(rest, of: index, call: number, told: told, then: done)
        case .drop:
            drop()
            perform(rest, of: index, call: number, told: told, then: done)
        }
    }

    private func drop() {
        recorder.record(.dropsTheService)
        service.withLock { $0 = nil }
    }
}

/// Writes down that a deadline has passed, before anybody acts on it.
private struct RecordingClock: AccessTokenClock {
    let clock: any AccessTokenClock
    let recorder: Recorder

    var now: Date { clock.now }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        clock.schedule(after: delay) {
            recorder.record(.deadlinePasses)
            action()
        }
    }
}

extension History.Answer {
    fileprivate init(_ result: Result<AccessToken, any Error>) {
        switch result {
        case .success(let token): self = .token(token.value)
        case .failure(let error as ScriptedLoader.LoadError): self = .error(ofLoad: error.load)
        case .failure(AccessTokenError.signedOut): self = .signedOut
        case .failure(AccessTokenError.loadTimedOut): self = .timedOut
        case .failure(is CancellationError): self = .cancelled
        case .failure(let error): self = .unknownError("\(error)")
        }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
