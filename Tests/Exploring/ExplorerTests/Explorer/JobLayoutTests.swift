import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

/// Fails loudly when a new toolchain changes what `JobLayout` reads out of a job.
@Suite("The layout of a job", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct JobLayoutTests {
    /// Notes what it can read of each job, then runs it.
    private final class Reader: TaskExecutor {
        struct Entry: Sendable {
            let kind: JobLayout.Kind
            let taskID: UInt64
            let isChild: Bool
            let description: String
        }

        let entries = Shared<[Entry]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let entry = Entry(
                kind: JobLayout.kind(of: job),
                taskID: JobLayout.taskID(of: job),
                isChild: JobLayout.isChild(job),
                description: job.description
            )
            entries.withLock { $0.append(entry) }
            (self as any TaskExecutor).run(job)
        }
    }

    private actor Cell {
        func touch() {}
    }

    private func entries(_ body: @escaping @Sendable () async -> Void) async -> [Reader.Entry] {
        let reader = Reader()
        await Task(executorPreference: reader) { await body() }.value
        return reader.entries.withLock { $0 }
    }

    @Test("gives the id of a task, which agrees with its public description")
    func identity() async {
        let entries = await entries { await Task.yield() }
        let tasks = entries.filter { $0.kind == .task }
        #expect(!tasks.isEmpty)
        for task in tasks {
            #expect(task.taskID != 0)
            #expect(task.description.contains("\(task.taskID)"))
        }
        #expect(Set(tasks.map(\.taskID)).count == 1)
    }

    @Test("tells the jobs of tasks, actors and yields apart")
    func kinds() async {
        let cell = Cell()
        #expect(await entries {}.map(\.kind) == [.task])
        #expect(await entries { await cell.touch() }.map(\.kind) == [.task, .actor, .task])
        // The hop may be over before the task waits for it: then the task goes on without another job.
        #expect(await entries { await Task.yield() }.prefix(2).map(\.kind) == [.task, .hop])
    }

    @Test("tells child tasks from other tasks")
    func children() async {
        let entries = await entries {
            async let child: Void = {}()
            await child
            await withTaskGroup { $0.addTask {} }
            await Task {}.value
        }
        #expect(entries.count { $0.isChild } == 2)
        #expect(entries.count { $0.kind == .task && !$0.isChild } >= 1)
        #expect(entries.allSatisfy { !$0.isChild || $0.kind == .task })
    }
}

extension TaskExecutor {
    fileprivate func run(_ job: UnownedJob) {
        let executor = unsafe asUnownedTaskExecutor()
        DispatchQueue.global().async { unsafe job.runSynchronously(on: executor) }
    }
}
