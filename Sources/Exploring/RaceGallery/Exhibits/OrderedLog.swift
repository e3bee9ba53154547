import InterleavingExplorer

@available(Executors, *)
enum OrderedLog {
    private static let title = "Lines of one caller on their way to the disk"
    private static let appended = "appended in the order of the calls"
    private static let onDisk = "on disk in the order of the calls"
    private static let lines = ["1", "2", "3"]

    static let exhibit = Exhibit(
        name: "log",
        title: title,
        story: """
            The log appends a line, and awaits a slow flush. While one line waits for the disk, the next one comes \
            in, and may be on disk first. Two calls by async let need not even begin in order: each is a task, and the \
            second may enter the actor first. Code that cannot await starts a task for each line; a task promises to \
            run, but not when. The order is kept by a caller that awaits each line, and by one task that writes what \
            comes out of a stream.
            """,
        invariants: [appended, onDisk],
        versions: [
            Version(
                name: "append-then-flush",
                summary: "appends, awaits the flush; two calls by async let",
                code: Code("writeByAsyncLet", in: "OrderedLog"),
                listings: [Listing(article: .raceConditions, name: "pattern C: operations out of order")],
                fault: .breaks(onDisk, repair: "log stream"),
                scenario: scenario(lines: ["1", "2"], [onDisk], writeByAsyncLet)
            ),
            Version(
                name: "async-let",
                summary: "two calls by async let, judged by the order in which they begin",
                code: Code("writeByAsyncLet", in: "OrderedLog"),
                listings: [Listing(article: .raceConditions, name: "pattern C: both calls start in order")],
                fault: .breaks(appended, repair: "log stream"),
                scenario: scenario(lines: ["1", "2"], [appended], writeByAsyncLet)
            ),
            Version(
                name: "task-per-line",
                summary: "starts a task for each line",
                code: Code("writeByTasks", in: "OrderedLog"),
                fault: .breaks(onDisk, repair: "log stream"),
                scenario: scenario([onDisk], writeByTasks)
            ),
            Version(
                name: "stream",
                summary: "one stream, and one task that writes what comes out of it",
                code: Code("writeByStream", in: "OrderedLog"),
                scenario: scenario([appended, onDisk], writeByStream)
            ),
        ]
    )

    private typealias Flush = @Sendable (_ line: String) async -> Void

    private static func scenario(
        lines: [String] = lines,
        _ invariants: [String],
        _ write: @escaping @Sendable (Log, @escaping Flush) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let log = Log()
            run.operation("caller") {
                await write(log) { line in
                    await run.pause("room for line \(line)")
                    run.effect("on disk: \(line)")
                }
            }
            if invariants.contains(appended) {
                run.invariant(appended) { await log.lines == lines }
            }
            if invariants.contains(onDisk) {
                run.invariant(onDisk) {
                    run.effects.filter { $0.hasPrefix("on disk") } == lines.map { "on disk: \($0)" }
                }
            }
        }
    }

    @Sendable private static func writeByAsyncLet(to log: Log, _ flush: @escaping Flush) async {
        async let first: Void = log.write("1", slowFlush: { await flush("1") })
        async let second: Void = log.write("2", slowFlush: { await flush("2") })
        _ = await (first, second)
    }

    @Sendable private static func writeByTasks(to log: Log, _ flush: @escaping Flush) async {
        for line in lines {
            Task { await log.write(line, slowFlush: { await flush(line) }) }
        }
    }

    @Sendable private static func writeByStream(to log: Log, _ flush: @escaping Flush) async {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Task {
            for await line in stream { await log.write(line, slowFlush: { await flush(line) }) }
        }
        for line in lines {
            continuation.yield(line)
            effect("logs \(line)")
            // The caller does something else meanwhile.
            await Task.yield()
        }
        continuation.finish()
    }
}

private actor Log {
    private(set) var lines: [String] = []

    func write(_ line: String, slowFlush: @Sendable () async -> Void) async {
        lines.append(line)
        note("appends line \(line)")
        await slowFlush()
    }
}
