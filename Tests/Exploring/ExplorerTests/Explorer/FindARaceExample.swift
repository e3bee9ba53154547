import InterleavingExplorer
import Testing

enum Faulty {
    // snippet: the actor
    actor DownloadCache {
        private var files: [String: String] = [:]
        private var downloads: [String: Task<String, Never>] = [:]
        private let fetch: @Sendable (String) async -> String

        init(fetch: @escaping @Sendable (String) async -> String) {
            self.fetch = fetch
        }

        func file(_ name: String) async -> String {
            if let file = files[name] { return file }
            if let download = downloads[name] { return await download.value }
            let download = Task.detached { [fetch] in await fetch(name) }
            downloads[name] = download
            let file = await download.value
            files[name] = file
            downloads[name] = nil
            return file
        }

        func removeAll() {
            files = [:]
            downloads = [:]
        }
    }
    // end snippet
}

enum Repaired {
    actor DownloadCache {
        private var files: [String: String] = [:]
        private var downloads: [String: Task<String, Never>] = [:]
        private let fetch: @Sendable (String) async -> String

        init(fetch: @escaping @Sendable (String) async -> String) {
            self.fetch = fetch
        }

        // snippet: the repair
        func file(_ name: String) async -> String {
            if let file = files[name] { return file }
            if let download = downloads[name] { return await download.value }
            let download = Task.detached { [fetch] in await fetch(name) }
            downloads[name] = download
            let file = await download.value
            // The cache was emptied meanwhile: the file may be old, and the download is no longer ours to clear.
            guard downloads[name] == download else { return file }
            files[name] = file
            downloads[name] = nil
            return file
        }
        // end snippet

        func removeAll() {
            files = [:]
            downloads = [:]
        }
    }
}

/// The scenario, for either cache.
struct Page<DownloadCache: DownloadCaching> {
    // snippet: the scenario
    actor Server {
        private var version = 1

        func update() { version += 1 }
        func file(_ name: String) -> String { "\(name), version \(version)" }
    }

    let emptiedCache = Scenario("a cache that is emptied during a download") { run in
        let server = Server()
        let cache = DownloadCache { name in
            let file = await server.file(name)
            run.note("the server sends “\(file)”")
            await run.pause("the answer arrives")
            return file
        }
        run.operation("reader") { await cache.file("logo") }
        run.operation("update") {
            await server.update()
            await cache.removeAll()
            run.note("the cache is empty")
        }
        run.invariant("who reads now gets the new logo") {
            await cache.file("logo") == "logo, version 2"
        }
    }
    // end snippet
}

protocol DownloadCaching: Actor {
    init(fetch: @escaping @Sendable (String) async -> String)
    func file(_ name: String) async -> String
    func removeAll()
}

extension Faulty.DownloadCache: DownloadCaching {}
extension Repaired.DownloadCache: DownloadCaching {}

/// The test of the page, which fails there: the tests of the page call it.
@Suite(.disabled("its scenario comes from the tests of the page"))
struct PrintedTest {
    var emptiedCache = Page<Repaired.DownloadCache>().emptiedCache

    // snippet: the test
    @Test func theCacheIsEmptied() async throws {
        try await Explorer().verify(emptiedCache)
    }
    // end snippet
}

@Suite("The page “Find a race in your actor”", .timeLimit(.minutes(60)))
struct FindARaceExample {
    private let page = Result { try textOfPage("FindARace") }

    @Test func `shows the failure that the explorer finds`() async throws {
        let failure = try #require(
            await #expect(throws: ScenarioFailure.self) {
                try await PrintedTest(emptiedCache: Page<Faulty.DownloadCache>().emptiedCache).theCacheIsEmptied()
            }
        )
        #expect(try page.get().contains("\(failure)"), "\(failure)")
        #expect(try page.get().contains("```mermaid\n\(failure.diagram)\n```"), "\(failure.diagram)")
    }

    @Test func `shows the report of the repaired cache`() async throws {
        let scenario = Page<Repaired.DownloadCache>().emptiedCache
        try await PrintedTest(emptiedCache: scenario).theCacheIsEmptied()
        let report = await Explorer().explore(scenario)
        #expect(try page.get().contains("\(report)"), "\(report)")
    }
}
