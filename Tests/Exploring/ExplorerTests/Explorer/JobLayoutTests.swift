import TestSupport
import Testing

@testable import InterleavingExplorer

/// Fails loudly when a new toolchain changes what `JobLayout` reads out of a job.
@Suite("The layout of a job", .takesTurnsToExplore, .serialized, .endsHangs)
struct JobLayoutTests {
    /// What can be read of the jobs that some code causes, of each before it runs.
    private func entries(_ body: @escaping @Sendable () async -> Void) -> [(kind: JobLayout.Kind, isChild: Bool)] {
        let executor = ProbeExecutor()
        Task(executorPreference: executor) { await body() }
        var entries: [(JobLayout.Kind, Bool)] = []
        while let job = executor.first {
            entries.append((JobLayout.kind(of: job), JobLayout.isChild(job)))
            executor.runFirst()
        }
        return entries
    }

    @Test func `tells the jobs of tasks, actors and yields apart`() {
        let counter = Counter()
        #expect(entries {}.map(\.kind) == [.task])
        #expect(entries { await counter.increment() }.map(\.kind) == [.task, .actor, .task])
        #expect(entries { await Task.yield() }.map(\.kind) == [.task, .hop, .task])
    }

    @Test func `tells child tasks from other tasks`() {
        let entries = entries {
            async let child: Void = {}()
            await child
            await withTaskGroup { $0.addTask {} }
        }
        #expect(entries.count { $0.isChild } == 2)
        #expect(entries.count { $0.kind == .task && !$0.isChild } >= 1)
        #expect(entries.allSatisfy { !$0.isChild || $0.kind == .task })
    }
}
