import InterleavingExplorer
import TestSupport
import Testing

/// A download manager as an app has one: a cache, one flight for each file, few downloads at a time, retries, eviction.
///
/// It is too big to be exhausted, and is the measure of what a search finds in something of that size.
actor DownloadManager {
    struct Failure: Error {}

    private struct Flight {
        let id: Int
        let task: Task<String, any Error>
    }

    private(set) var downloads: [String: Int] = [:]
    private(set) var mostRunning = 0
    private(set) var hits = 0
    private var files: [String: String] = [:]
    private var flights: [String: Flight] = [:]
    private var line: [CheckedContinuation<Void, Never>] = []
    private var running = 0
    private var lastID = 0
    private let limit: Int
    private let attempts: Int
    private let clearsNewerFlight: Bool
    private let fetch: @Sendable (_ file: String, _ attempt: Int) async throws -> String

    init(
        limit: Int = 2,
        attempts: Int = 2,
        clearsNewerFlight: Bool,
        fetch: @escaping @Sendable (String, Int) async throws -> String
    ) {
        self.limit = limit
        self.attempts = attempts
        self.clearsNewerFlight = clearsNewerFlight
        self.fetch = fetch
    }

    func file(_ name: String) async throws -> String {
        if let file = files[name] {
            hits += 1
            return file
        }
        return try await (flights[name] ?? begin(name)).task.value
    }

    /// Forgets a file, also one that is on its way.
    func evict(_ name: String) {
        files[name] = nil
        flights[name] = nil
    }

    private func begin(_ name: String) -> Flight {
        lastID += 1
        let id = lastID
        let flight = Flight(id: id, task: Task.detached { try await self.download(name, id) })
        flights[name] = flight
        return flight
    }

    private func download(_ name: String, _ id: Int) async throws -> String {
        await enter()
        defer {
            leave()
            // The planted bug: after an eviction the flight may be a newer one.
            if clearsNewerFlight || flights[name]?.id == id { flights[name] = nil }
        }
        downloads[name, default: 0] += 1
        let file = try await fetchPatiently(name)
        if flights[name]?.id == id { files[name] = file }
        return file
    }

    private func fetchPatiently(_ name: String) async throws -> String {
        for attempt in 1..<attempts {
            if let file = try? await fetch(name, attempt) { return file }
        }
        return try await fetch(name, attempts)
    }

    private func enter() async {
        guard running == limit else {
            running += 1
            mostRunning = max(mostRunning, running)
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    /// Hands the place on, or gives it back.
    private func leave() {
        if line.isEmpty {
            running -= 1
        } else {
            line.removeFirst().resume()
        }
    }
}

@Suite("A scenario that is too big to be exhausted", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct DownloadManagerTests {
    private func scenario(clearsNewerFlight: Bool) -> Scenario {
        Scenario("two readers, an eviction, and a late reader") { run in
            let manager = DownloadManager(clearsNewerFlight: clearsNewerFlight) { name, attempt in
                await run.pause("answer")
                if name == "b", attempt == 1 { throw DownloadManager.Failure() }
                return name
            }
            run.operation("first") { try await manager.file("a") }
            run.operation("evicts") {
                for _ in 1...4 { await run.pause("the user looks") }
                await manager.evict("a")
                _ = try await manager.file("a")
            }
            run.operation("other") { try await manager.file("b") }
            run.operation("late") {
                for _ in 1...2 { await run.pause("the user scrolls") }
                _ = try await manager.file("a")
            }
            run.invariant("one download, and one for the eviction") { await manager.downloads["a", default: 0] <= 2 }
            run.invariant("two at a time") { await manager.mostRunning <= 2 }
        }
    }

    @Test("shows its bug at random, long before every schedule was tried, with the same schedule each time")
    func finds() async throws {
        let report = await Explorer().explore(scenario(clearsNewerFlight: true))
        let failure = try #require(report.failure, "\(report)")
        #expect(failure.message.contains("one for the eviction"))
        #expect(report.schedules + report.redundantRuns <= 3_000, "\(report)")
        #expect(report.description.contains("random schedules came next"), "\(report)")
        #expect(await Explorer().replay(failure.schedule, of: scenario(clearsNewerFlight: true)).failure != nil)
        #expect(await Explorer().explore(scenario(clearsNewerFlight: true)).failure?.schedule == failure.schedule)
        let advice = "To see which method of DownloadManager runs, begin each with: ScenarioRun.current?.note("
        #expect("\(failure)".contains(advice), "\(failure)")
    }

    @Test("is not called complete, and the report says how the search went on")
    func holds() async {
        var explorer = Explorer()
        explorer.maximumSchedules = 3_100
        let report = await explorer.explore(scenario(clearsNewerFlight: false))
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.schedules + report.redundantRuns == 3_100)
        #expect(report.description.contains("2000 random schedules came next (seed 0); then the search went on"))
    }

    @Test("takes many runs to find in order", .enabled(if: effort != nil, "it takes long: .ci/deep interleavings"))
    func inOrder() async {
        let report = await Explorer(.exhaustive).explore(scenario(clearsNewerFlight: true))
        let runs = report.schedules + report.redundantRuns
        #expect(report.failures == 1 && runs > 3_000, "\(report)")
        print("download manager in order: \(runs) runs")
    }
}
