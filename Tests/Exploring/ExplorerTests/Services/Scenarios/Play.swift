import AccessTokenAsync
import AccessTokenGCD
import AccessTokenSynchronization
import Foundation
import InterleavingExplorer

/// A scenario that is being played on a service.
final class Play: Sendable {
    private let scenario: ContractScenario
    private let run: ScheduledRun
    private let recorder: Recorder
    /// The only reference to the service, but for those of the service itself and of calls that are under way.
    private let service: Locked<Subject.Service?>

    /// Makes the service; ``begin()`` raises the curtain.
    init(_ scenario: ContractScenario, with subject: Subject, in run: ScheduledRun) {
        self.scenario = scenario
        self.run = run
        let recorder = Recorder(run, isByHandlers: subject.isByHandlers, cancelledCallers: scenario.cancelled)
        self.recorder = recorder
        let surroundings = Subject.Surroundings(
            run: run,
            loader: ScriptedLoader(scenario, in: run, recorder: recorder),
            clock: RecordingClock(clock: run.clock, recorder: recorder),
            policy: scenario.policy
        )
        service = Locked(subject.make(surroundings))
    }

    func begin() {
        for (index, moves) in scenario.parts.enumerated() {
            switch service.withLock({ $0?.provider }) {
            case .async:
                let part = run.operation("part \(index + 1)") { await self.perform(moves, as: index) }
                if scenario.cancelled.contains(index) { run.step(cancelling: part) }
            case .callback:
                run.operation("part \(index + 1)") {
                    await unsafe withUnsafeContinuation { continuation in
                        self.perform(moves[...], of: index, call: 0, told: nil) { unsafe continuation.resume() }
                    }
                }
            case nil:
                break
            }
        }
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
                let result: Result<AccessToken, any Error>
                do { result = .success(try await provider.token()) } catch { result = .failure(error) }
                let answered = History.Entry.answered(call, History.Answer(result))
                scenario.marksAnswers ? recorder.record(answered) : recorder.recordQuietly(answered)
                told = (try? result.get()) ?? told
            case .wait:
                await run.pause("part \(index + 1) goes on")
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
        let goOn = { @Sendable (number: Int, told: AccessToken?) in
            self.perform(moves.dropFirst(), of: index, call: number, told: told, then: done)
        }
        switch move {
        case .ask:
            let call = History.Call(caller: index, number: number)
            let isFirstAnswer = Protected(true)
            let handler: AccessTokenHandler = { result in
                self.recorder.record(.answered(call, History.Answer(result)))
                guard isFirstAnswer.take() else { return }
                goOn(number + 1, (try? result.get()) ?? told)
            }
            let retrieval = recorder.record(.asks(call, isCancelled: false)) {
                provider.retrieveToken(then: handler)
            }
            if scenario.cancelled.contains(index), number == 0 {
                run.step("cancels part \(index + 1)") { retrieval.cancel() }
            }
        case .wait:
            run.step("part \(index + 1) goes on") { goOn(number, told) }
        case .reject:
            if let told {
                recorder.record(.rejects(told.value)) { provider.invalidate(told) }
                recorder.record(.rejected(told.value))
            }
            goOn(number, told)
        case .signOut:
            recorder.record(.signsOut, ending: service.signsOutAtOnce ? .signedOut : nil) {
                provider.signOut {
                    if !service.signsOutAtOnce { self.recorder.record(.signedOut) }
                    goOn(number, told)
                }
            }
        case .signIn(let value):
            recorder.record(.signsIn(value)) {
                service.signInFromHandler(AccessToken(value: value)) { self.recorder.recordQuietly(.signedIn(value)) }
            }
            goOn(number, told)
        case .drop:
            drop()
            goOn(number, told)
        }
    }

    private func drop() {
        recorder.record(.dropsTheService)
        service.withLock { $0 = nil }
    }
}

/// The virtual time of a run; writes down that a deadline has passed, before anybody acts on it.
private struct RecordingClock: AccessTokenClock {
    let clock: VirtualClock
    let recorder: Recorder

    var now: Date {
        Date(timeIntervalSince1970: 1_800_000_000).addingTimeInterval(clock.now.offset / .seconds(1))
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let timer = clock.schedule(after: .seconds(delay), "the deadline passes") {
            recorder.record(.deadlinePasses)
            action()
        }
        return AccessTokenTimer { timer.cancel() }
    }
}

extension Scenario {
    /// A scenario of the contract for the explorer; it fails with the first rule that is broken.
    init(_ scenario: ContractScenario, with subject: Subject) {
        self.init("\(scenario), on \(subject)") { run in
            let play = Play(scenario, with: subject, in: run)
            play.begin()
            // A silent load has no answer.
            if scenario.loads.contains(.silence) { run.permitUnfinishedTasks() }
            run.invariant("the contract is kept") {
                if let broken = play.history.brokenRule { throw broken }
                return true
            }
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
