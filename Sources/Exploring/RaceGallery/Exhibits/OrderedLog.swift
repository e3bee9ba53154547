import InterleavingExplorer

@available(Executors, *)
enum OrderedLog {
    private static let title = "Three lines of one caller on their way to the disk"
    private static let invariant = "on disk in the order of the calls"
    private static let lines = ["1", "2", "3"]

    static let exhibit = Exhibit(
        name: "log",
        title: title,
        story: """
            The log appends a line, and awaits a slow flush. While one line waits for the disk, the next one comes \
            in, and may be on disk first. Code that cannot await starts a task for each line; a task promises to run, \
            but not when. The order is kept by a caller that awaits each line, and by one task that writes what comes \
            out of a stream.
            """,
        invariants: [invariant],
        versions: [
            Version(
                name: "append-then-flush",
                summary: "appends, awaits the flush; two calls by async let",
                listing: Listing(article: .raceConditions, name: "pattern C: operations out of order"),
                fault: .breaks(invariant, repair: "log stream"),
                scenario: scenario(lines: ["1", "2"]) { log, flush in
                    async let first: Void = log.write("1", slowFlush: { await flush("1") })
                    async let second: Void = log.write("2", slowFlush: { await flush("2") })
                    _ = await (first, second)
                }
            ),
            Version(
                name: "task-per-line",
                summary: "starts a task for each line",
                fault: .breaks(invariant, repair: "log stream"),
                scenario: scenario { log, flush in
                    for line in lines {
                        Task { await log.write(line, slowFlush: { await flush(line) }) }
                    }
                }
            ),
            Version(
                name: "stream",
                summary: "one stream, and one task that writes what comes out of it",
                scenario: scenario { log, flush in
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
            ),
        ]
    )

    private static func scenario(
        lines: [String] = lines,
        _ write: @escaping @Sendable (Log, @escaping @Sendable (_ line: String) async -> Void) async -> Void
    ) -> Scenario {
        Scenario(title) { run in
            let log = Log()
            run.operation("caller") {
                await write(log) { line in
                    await run.pause("room for line \(line)")
                    run.effect("on disk: \(line)")
                }
            }
            run.invariant(invariant) {
                run.effects.filter { $0.hasPrefix("on disk") } == lines.map { "on disk: \($0)" }
            }
        }
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
