import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

@Suite("An escape", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct EscapeTests {
    private var patient: Explorer {
        var explorer = Explorer()
        explorer.patience = .seconds(10)
        return explorer
    }

    @Test("is reported if all have gone on without the one who was away", arguments: [false, true])
    func lateResumption(isPlain: Bool) async {
        for round in 1...20 {
            let report = await patient.explore(
                Scenario("a load that nobody waits for") { run in
                    let answer = Shared<(@Sendable () -> Void)?>(nil)
                    let load: @Sendable () async -> Void = {
                        await unsafe withUnsafeContinuation { continuation in
                            answer.withLock { $0 = { unsafe continuation.resume() } }
                        }
                    }
                    run.operation("caller") {
                        if isPlain {
                            Task { await load() }
                        } else {
                            Task(executorPreference: run.executor) { await load() }
                        }
                    }
                    run.invariant("comes last") {
                        DispatchQueue.global().async { answer.withLock { $0 }?() }
                        return true
                    }
                }
            )
            #expect(report.failure?.kind == .escape, "round \(round): \(report)")
            #expect(report.failure?.message.contains("caller/1") == true, "\(report)")
        }
    }

    @Test("is told from a task that waits for ever, which fails the run as well unless that is permitted")
    func unfinishedTask() async {
        func scenario(isPermitted: Bool) -> Scenario {
            Scenario("a silent server") { run in
                if isPermitted { run.permitUnfinishedTasks() }
                run.operation("caller") {
                    Task(executorPreference: run.executor) {
                        await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    }
                }
            }
        }
        var explorer = Explorer()
        explorer.patience = .milliseconds(1)
        let report = await explorer.explore(scenario(isPermitted: false))
        #expect(report.failure?.kind == .unfinishedTask, "\(report)")
        #expect(report.failure?.message.contains("caller/1") == true, "\(report)")
        #expect(await explorer.explore(scenario(isPermitted: true)).holds)
    }

    @Test("is not suspected of tasks that have ended, or that wait for a timer of the run")
    func endedTasks() async {
        let report = await Explorer().explore(
            Scenario("ended tasks") { run in
                run.operation("caller") {
                    Task(executorPreference: run.executor) { try await run.clock.sleep(for: .seconds(10)) }
                    async let child: Void = run.pause("child")
                    let task = Task { await Task.yield() }
                    await task.value
                    await child
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await Task.yield() }
                    }
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
    }

    #if os(macOS) || os(Linux)
    @Test("after the report, which is wrong then, is told on standard error")
    func lateComplaint() async throws {
        let result = try await #require(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let last = Shared<ScenarioRun?>(nil)
            let report = await Explorer().explore(
                Scenario("it is over") { run in
                    last.withLock { $0 = run }
                    run.operation("caller") {}
                }
            )
            precondition(report.holds)
            last.withLock { $0 }?.effect("too late")
        }
        let complaint = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(complaint.contains("it is over"))
        #expect(complaint.contains("too late"))
    }
    #endif
}
