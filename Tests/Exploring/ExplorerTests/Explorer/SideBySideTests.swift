import Dispatch
import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// The only suite whose explorations wait for each other: with a second one, each could have half of the threads.
@Suite(
    "Explorations",
    .takesTurnsToExplore,
    .serialized,
    .endsHangs,
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1)
)
struct SideBySideTests {
    /// One exploration waits for another, which has its turn after those of other tests.
    private static let turn = Duration.seconds(300)

    /// Two withdrawals, in which plain tasks and a dispatch queue take part; its first run meets another one in its
    /// middle.
    private func explored(_ name: String, meeting other: Meeting? = nil) async -> (report: String, effects: Set<String>)
    {
        let explorer = Explorer(.exhaustive).with(\.preempts, false).with(\.maximumSchedules, 60)
            .with(\.stopsAtFirstFailure, false).with(\.stepLimit, Self.turn)
        let journal = Journal()
        let isFirstRun = Protected(true)
        let report = await explore("withdrawals", by: explorer) { run in
            let account = Account(balance: 100)
            let queue = DispatchQueue(label: "subject")
            run.control(queue)
            run.operation("first") {
                let approval = Task { ScheduledRun.current?.effect("\(name) approves") }
                if isFirstRun.take() { other?.meet() }
                await account.withdraw(80) { await approval.value }
            }
            run.operation("second") { await account.withdraw(80) { await Task.yield() } }
            queue.async {
                ScheduledRun.current?.effect("\(name) audits")
                Task { ScheduledRun.current?.effect("\(name) files") }
            }
            run.invariant("no overdraft") {
                journal.add(run.effects.joined(separator: ", "))
                return await account.balance >= 0
            }
        }
        #expect(report.failures > 0 && report.failures < report.schedules, "\(report)")
        return ("\(report.schedules), \(report.longestSchedule): \(report)", Set(journal.all))
    }

    @Test func `that meet in the middle of a run find what each of them finds alone`() async {
        let (left, right) = (await explored("left"), await explored("right"))
        #expect(left.effects.contains("left audits, left approves, left files"), "\(left.effects.prefix(10))")
        let meeting = Meeting(of: 2)
        async let leftBesideRight = explored("left", meeting: meeting)
        async let rightBesideLeft = explored("right", meeting: meeting)
        let besideOthers = await (leftBesideRight, rightBesideLeft)
        #expect(besideOthers.0 == left)
        #expect(besideOthers.1 == right)
    }

    @Test(arguments: [false, true])
    func `are told of their own escapes only, also where one resumes what another waits for`(isPlain: Bool) async {
        let explorer = Explorer().with(\.patience, Self.turn).with(\.stepLimit, Self.turn)
        let server = OutsideServer()
        let isSuspended = DispatchSemaphore(value: 0)
        let waiting = Scenario("waits") { run in
            run.operation("caller") {
                let load = { @Sendable in await server.load() }
                let task = isPlain ? Task(operation: load) : Task(executorPreference: run.executor, operation: load)
                await task.value
            }
            run.operation("other") {
                await run.pause("until the load is suspended")
                isSuspended.signal()
            }
        }
        async let escaped = explorer.explore(waiting)
        let isFirstRun = Protected(true)
        let report = await explore("answers", by: explorer) { run in
            run.operation("server") {
                guard isFirstRun.take() else { return }
                isSuspended.wait()
                server.answer()
            }
            run.operation("other") {}
        }
        #expect(report.holds && report.isComplete, "\(report)")
        let failure = await escaped.failure
        #expect(failure?.kind == .escape)
        #expect(failure?.message.contains("caller/1") == true)
    }

    @Test func `run on as many threads as there are processors, and the others after them`() async {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let meeting = Meeting(of: processors)
        let inside = Protected((now: 0, most: 0))
        let ended = await withTaskGroup(of: Bool.self) { group in
            for number in 1...4 * processors {
                let isFirstRun = Protected(true)
                group.addTask {
                    await explore("exploration \(number)", by: Explorer().with(\.stepLimit, Self.turn)) { run in
                        run.operation("only") {}
                        guard isFirstRun.take() else { return }
                        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        meeting.meet()
                        inside.withLock { $0.now -= 1 }
                    }.holds
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ended == 4 * processors)
        #expect(inside.withLock(\.most) == processors)
    }
}

/// Where so many threads wait for each other, once.
private final class Meeting: Sendable {
    private let missing: Protected<Int>
    private let isComplete = DispatchSemaphore(value: 0)

    init(of guests: Int) {
        missing = Protected(guests)
    }

    func meet() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if !isLast { isComplete.wait() }
        // Each lets the next one go.
        isComplete.signal()
    }
}
