import Dispatch
import Foundation
import TestSupport
import Testing

@testable import InterleavingExplorer

/// What a report must not say, and what it must not leave out.
@Suite("The explorer says", .takesTurnsToExplore, .serialized, .endsHangs)
struct HonestyTests {
    @Test func `that a search was cut, and does not pass it unless that is allowed`() async throws {
        let scenario = Scenario("effects") { run in
            for name in ["a", "b", "c"] { run.operation(name) { run.effect(name) } }
        }
        let cut = await Explorer().with(\.maximumSchedules, 3).explore(scenario)
        #expect(cut.schedules == 3 && !cut.isComplete)
        let failure = #expect(throws: ScenarioFailure.self) { try cut.verify() }
        #expect(failure?.kind == .incompleteSearch)
        #expect(failure?.message.contains("maximumSchedules") == true)
        #expect(failure?.description.contains("schedule 0") == false, "\(String(describing: failure))")
        try cut.verify(allowIncomplete: true)
        try await Explorer().explore(scenario).verify()
        let drawn = await Explorer(.random(seed: 1, schedules: 10)).explore(scenario)
        // More of them would not pass either.
        let undrawn = #expect(throws: ScenarioFailure.self) { try drawn.verify() }
        #expect(undrawn?.message.contains("there are more: search in the mode automatic, or say") == true)
    }

    @Test func `that more could run than a schedule can name, where more runs do not help`() async {
        let report = await Explorer().with(\.maximumDelays, 0).explore(
            Scenario("forty operations") { run in
                for number in 1...40 { run.operation("\(number)") { run.effect("\(number)") } }
            }
        )
        #expect(report.holds && report.schedules == 1 && !report.isComplete, "\(report)")
        let remark = "At some moment more than 36 steps could run: those that had waited shortest were not tried."
        #expect(report.remarks == [remark], "\(report)")
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.message.contains("make the scenario smaller, or say") == true, "\(report)")
    }

    private static func lockAcrossSuspension(_ door: DispatchSemaphore) -> Scenario {
        Scenario("a lock across a suspension") { run in
            run.operation("first") { run.effect("first") }
            run.operation("second") {
                run.effect("second")
                if run.effects.first == "second" { _ = door.wait(timeout: .now() + 20) }
            }
            run.operation("third") { run.effect("third") }
        }
    }

    @Test func `which step does not end, and under which schedule`() async {
        let door = DispatchSemaphore(value: 0)
        let explorer = Explorer().with(\.stepLimit, .seconds(3))
        let report = await explorer.explore(Self.lockAcrossSuspension(door))
        #expect(report.failure?.kind == .stuckStep, "\(report)")
        #expect(report.failure?.message.contains("second") == true)
        #expect(report.failure?.schedule == "1")
        // It is the third schedule, which is not recorded: another run has found the steps, up to the one that does not
        // end.
        #expect(report.failure?.trace.steps.map(\.participant) == ["second"], "\(report)")
        #expect(report.description.contains("schedule 1, 1 delay"), "\(report)")
        let replay = await explorer.with(\.stepLimit, .seconds(1)).replay("1", of: Self.lockAcrossSuspension(door))
        #expect(replay.failure?.kind == .stuckStep && replay.trace.effects == ["second"], "\(replay)")
        for _ in 1...3 { door.signal() }
    }

    @Test func `that a step does not end where a block of a dispatch queue waits for another step`() async {
        let door = DispatchSemaphore(value: 0)
        let report = await explore("a block that waits", by: Explorer().with(\.stepLimit, .seconds(1))) { run in
            let queue = DispatchQueue(label: "subject")
            run.control(queue)
            run.operation("caller") {
                queue.async {
                    Task { door.signal() }
                    _ = door.wait(timeout: .now() + 20)
                }
            }
        }
        #expect(report.failure?.kind == .stuckStep, "\(report)")
        #expect(report.failure?.message.contains("a step of queue") == true, "\(report)")
        for _ in 1...2 { door.signal() }
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    /// In a process of its own: the hook is the whole process's.
    @Test func `that another library has taken the hook, so that plain tasks get away`() async throws {
        await #expect(processExitsWith: .success) {
            takeHook()
            let report = await explore("a plain task") { run in
                run.operation("caller") { await Task {}.value }
            }
            #expect(report.failure?.kind == .escape, "\(report)")
            #expect(report.failure?.message.contains("another library has taken the hook") == true)
            #expect(!report.isComplete)
        }
    }
    #endif

    @Test
    func `what it cannot see where looks at cancellation do not come by, and passes if that is permitted`() async throws
    {
        for isPermitted in [false, true] {
            let scenario = Scenario("a save beside a sign-out") { run in
                if isPermitted { run.permit(.looksAtCancellation) }
                let cell = Cell()
                let task = Task(executorPreference: run.executor) {
                    guard !Task.isCancelled else { return }
                    _ = await cell.add("save ")
                }
                run.operation("signs out") {
                    task.cancel()
                    _ = await cell.add("clear ")
                    await task.value
                }
                run.outcome { await cell.text }
            }
            let report = await onThreadOfItsOwn { Exploration(scenario, Explorer(), seesCalls: false).search() }
            #expect(Set(report.outcomes.keys) == ["save clear ", "clear "], "\(report)")
            #expect(report.holds && report.isComplete == isPermitted, "\(report)")
            #expect(report.omissions == (isPermitted ? [] : [.looksAtCancellation]))
            #expect(report.permittedOmissions == (isPermitted ? [.looksAtCancellation] : []))
            if isPermitted {
                try report.verify()
                #expect(report.description.contains("but for what the scenario permits"), "\(report)")
            } else {
                let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
                #expect(failure?.message.contains("say run.permit(.looksAtCancellation) in the setup") == true)
            }
        }
    }

    @Test func `the same where a module looks in a way that is not known, or not enough`() async {
        func omissions(missingLooks: Bool) async -> [Omission] {
            let scenario = Scenario("a cancellation") { run in
                let operation = run.operation("caller") { await run.pause("answer") }
                run.step(cancelling: operation)
            }
            return await onThreadOfItsOwn {
                Exploration(scenario, Explorer(), missesLooks: missingLooks).search().omissions
            }
        }
        #expect(await omissions(missingLooks: true) == [.looksAtCancellation])
        #expect(await omissions(missingLooks: false) == [])
        #if os(Linux)
        #expect(RuntimeCalls.unseenLooks == [])
        // The modules of this process look, and cancel, in these ways; functions of other libraries are not among them.
        let all = RuntimeCalls.ofCancellation
        #expect(
            all.contains("$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ") && all.contains("$sSct6cancelyyF"),
            "\(all)"
        )
        #expect(!all.contains { $0.contains("pthread") || $0.contains("dispatch") }, "\(all)")
        #endif
    }

    #if os(Linux)
    /// The compiler, if there is one on the search path.
    private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Only the runtime calls the getter behind the key path, and by a pointer: nothing can be put in between.
    private static let looksByKeyPath = """
        @_cdecl("looks") public func looks(at address: UnsafeRawPointer) -> Bool {
            unsafeBitCast(address, to: Task<Void, Never>.self)[keyPath: \\.isCancelled]
        }
        """

    /// In a process of its own, since the module that looks in this way stays loaded.
    @Test(.enabled(if: compiler != nil, "there is no swiftc on the search path"))
    func `that it does not see looks by a key path, from the moment on that a module is loaded which has one`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "looks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "looks.swift")
        try Self.looksByKeyPath.write(to: source, atomically: true, encoding: .utf8)
        let module = folder.appending(path: "liblooks.so").path
        let build = Process()
        build.executableURL = URL(filePath: try #require(Self.compiler))
        build.arguments = ["-emit-library", "-o", module, source.path]
        try build.run()
        await onThreadOfItsOwn { build.waitUntilExit() }
        try #require(build.terminationStatus == 0)
        await #expect(processExitsWith: .success) { [module = module as String] in
            let scenario = Scenario("a cancellation") { run in
                let operation = run.operation("caller") { await run.pause("answer") }
                run.step(cancelling: operation)
            }
            #expect(await Explorer().explore(scenario).isComplete)
            #expect(unsafe dlopen(module, RTLD_NOW) != nil)
            #expect(RuntimeCalls.unseenLooks == ["$sScT11isCancelledSbvpMV"])
            let report = await Explorer().explore(scenario)
            #expect(report.omissions == [.looksAtCancellation] && !report.isComplete, "\(report)")
        }
    }
    #endif

    @Test func `that nothing was left out, where the runtime is not the one that it knows`() async {
        func report(isLayoutKnown: Bool) async -> ExplorationReport {
            let independent = Scenario("two counters") { run in
                for name in ["first", "second"] {
                    let counter = Counter()
                    run.operation(name) { await counter.increment() }
                }
            }
            return await onThreadOfItsOwn {
                Exploration(independent, Explorer(), isLayoutKnown: isLayoutKnown).search()
            }
        }
        let known = await report(isLayoutKnown: true)
        let unknown = await report(isLayoutKnown: false)
        #expect(!known.remarks.contains { $0.contains("the search is longer") })
        #expect(unknown.remarks.count == 1)
        #expect(unknown.remarks.first?.contains("the search is longer") == true)
        #expect(unknown.schedules > known.schedules, "\(unknown) \(known)")
        #expect(unknown.isComplete)
    }
}

/// Does what another library would.
private func takeHook() {
    typealias Original = @convention(thin) (UnownedJob) -> Void
    typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
    let passOn: Hook = { job, original in original(job) }
    guard let symbol = unsafe RuntimeSymbol.address(of: "swift_task_enqueueGlobal_hook") else { return }
    unsafe symbol.assumingMemoryBound(to: Hook.self).pointee = passOn
}
