import InterleavingExplorer

/// The order at the call site against the order on disk.
@available(Executors, *)
enum OrderedLog {
    private static let title = "Three lines of one caller on their way to the disk"

    static let exhibit = Exhibit(
        name: "log",
        title: title,
        story: """
            Code that cannot await starts a task for each line. A task promises to run, but not when. The lines reach \
            the disk in the order in which the tasks reach the actor, and that is not the order of the calls.
            """,
        invariants: ["on disk in the order of the calls"],
        versions: [
            .faulty(
                "task-per-line",
                breaks: "on disk in the order of the calls",
                "starts a task for each line",
                scenario { disk in
                    for line in lines {
                        Task { await disk.write(line) }
                    }
                }
            ),
            .wrongFix(
                "actor-that-awaits",
                breaks: "on disk in the order of the calls",
                "keeps the order up to the actor, which awaits the disk",
                scenario { disk in
                    let task = Task {
                        await withTaskGroup { group in
                            for line in lines {
                                guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
                                    // Older systems have no immediate tasks, and lose the order before the actor, too.
                                    group.addTask { await disk.writeSlowly(line) }
                                    continue
                                }
                                // Entered in order, every one of them before the next.
                                group.addImmediateTask { await disk.writeSlowly(line) }
                            }
                        }
                    }
                    await task.value
                }
            ),
            .fix(
                "await-each",
                "awaits each line at the call site",
                scenario { disk in
                    for line in lines {
                        await disk.write(line)
                    }
                }
            ),
            .fix(
                "stream",
                "one stream, and one task that writes what comes out of it",
                scenario { disk in
                    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
                    Task {
                        for await line in stream {
                            await disk.writeSlowly(line)
                        }
                    }
                    for line in lines {
                        continuation.yield(line)
                        effect("logs \(line)")
                        // The caller does something else meanwhile.
                        await Task.yield()
                    }
                    continuation.finish()
                }
            ),
        ]
    )

    private static let lines = ["1", "2", "3"]

    private static func scenario(_ log: @escaping @Sendable (Disk) async -> Void) -> Scenario {
        Scenario(title) { run in
            let disk = Disk { line in await run.pause("room for line \(line)") }
            run.operation("caller") { await log(disk) }
            run.invariant("on disk in the order of the calls") { await disk.lines == lines }
        }
    }
}

@available(Executors, *)
private actor Disk {
    private(set) var lines: [String] = []
    private let ready: @Sendable (_ line: String) async -> Void

    init(ready: @escaping @Sendable (_ line: String) async -> Void) {
        self.ready = ready
    }

    func write(_ line: String) {
        lines.append(line)
        note("writes line \(line)")
    }

    /// An actor is no queue: while this line waits for the disk, the next one comes in.
    func writeSlowly(_ line: String) async {
        await ready(line)
        write(line)
    }
}
