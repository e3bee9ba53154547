import InterleavingExplorer
import Testing

// snippet: the field
actor SearchField {
    private var text = ""
    private var pause: Task<Void, any Error>?
    private let clock: any Clock<Duration>
    private let find: @Sendable (String) async -> Void

    init(clock: any Clock<Duration>, find: @escaping @Sendable (String) async -> Void) {
        self.clock = clock
        self.find = find
    }

    func type(_ letters: String) {
        text += letters
        pause?.cancel()
        pause = Task.detached { [clock] in
            try await clock.sleep(for: .seconds(0.3))
            await self.search()
        }
    }

    /// Waits until nothing is left to search for.
    func finish() async { _ = await pause?.result }

    private func search() async { await find(text) }
}
// end snippet

@Suite("The page “Put time into a scenario”", .timeLimit(.minutes(60)))
struct TimingExample {
    private let page = Result { try textOfPage("Timing") }

    // snippet: the scenario
    func typesTwoLetters(_ run: ScheduledRun) {
        let field = SearchField(clock: run.clock) { text in
            run.effect("searches for \(text)")
        }
        run.operation("user") {
            await field.type("a")
            try await run.clock.sleep(for: .seconds(0.2))
            await field.type("b")
            await field.finish()  // The scenario ends with its operations.
        }
    }
    // end snippet

    @Test func `shows the schedule under which a right field searches twice`() async throws {
        let scenario = Scenario("two letters within a pause") { run in
            typesTwoLetters(run)
            // snippet: the wrong invariant
            run.invariant("there is one search") { run.effects.count == 1 }
            // end snippet
        }
        let failure = try #require(await Explorer().explore(scenario).failure)
        #expect(try page.get().contains("\(failure)"), "\(failure)")
    }

    @Test func `shows the report of the right invariant`() async throws {
        let scenario = Scenario("two letters within a pause") { run in
            typesTwoLetters(run)
            // snippet: the right invariant
            run.invariant("the last search is for all that was typed") { run.effects.last == "searches for ab" }
            // end snippet
        }
        // snippet: the search
        var explorer = Explorer()
        explorer.preempts = false
        let report = await explorer.explore(scenario)
        try report.verify()
        // end snippet
        #expect(try page.get().contains("\(report)"), "\(report)")
    }
    @Test func `is right that a pause must not keep its text`() async throws {
        let report = await Explorer().explore(
            Scenario("two letters, and pauses that keep their text") { run in
                let field = HastyField(clock: run.clock) { run.effect("searches for \($0)") }
                run.operation("user") {
                    await field.type("a")
                    try await run.clock.sleep(for: .seconds(0.2))
                    await field.type("b")
                    await field.finish()
                }
                run.invariant("the last search is for all that was typed") { run.effects.last == "searches for ab" }
            }
        )
        #expect(report.failure?.kind == .brokenInvariant, "\(report)")
    }

    @Test func `follows a feed that has no end`() async throws {
        let report = await Explorer().explore(
            Scenario("a feed") { run in
                let (elements, source) = AsyncStream.makeStream(of: Int.self)
                // snippet: the listener
                run.operation("feed", listens: true) {
                    for await element in elements { run.effect("hears \(element)") }
                }
                // end snippet
                run.operation("source") { run.effect("sends 1") { _ = source.yield(1) } }
                run.invariant("all was heard") { run.effects.contains("hears 1") }
            }
        )
        try report.verify()
    }
}

/// Each pause searches for what was typed when the pause began.
private actor HastyField {
    private var text = ""
    private var pause: Task<Void, any Error>?
    private let clock: any Clock<Duration>
    private let find: @Sendable (String) -> Void

    init(clock: any Clock<Duration>, find: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.find = find
    }

    func type(_ letters: String) {
        text += letters
        pause?.cancel()
        pause = Task.detached { [clock, find, text] in
            try await clock.sleep(for: .seconds(0.3))
            find(text)
        }
    }

    func finish() async { _ = await pause?.result }
}
