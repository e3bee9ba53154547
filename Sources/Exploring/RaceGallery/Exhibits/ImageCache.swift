import Foundation
import InterleavingExplorer

@available(Executors, *)
enum ImageCache {
    static let exhibit = Exhibit(
        name: "image-cache",
        title: SharedLoad.title,
        story: """
            The cache is empty, so both callers download. Keeping the first picture corrects what is shown, but both \
            downloads are paid for. A set of the URLs in flight only tells the second caller that it came too late. A \
            registry of tasks gives the second caller a task to await. If the caller that started the task settles \
            it, another caller may wake first, try again, and join the task that has failed. Downloads of different \
            URLs must not wait for each other: in two of the versions, the server sends the first picture only after \
            another view has its own.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                name: "check-then-download",
                summary: "downloads when it finds no picture",
                code: Code("CheckThenDownload", in: "ImageCache"),
                listings: [
                    Listing(article: .raceConditions, name: "pattern A: duplicate work"),
                    Listing(article: .strategies, name: "problem 2: the cache without a task"),
                ],
                fault: .breaks(SharedLoad.oneAtATime, repair: "image-cache in-flight"),
                scenario: scenario { CheckThenDownload(download: $0) }
            ),
            Version(
                name: "set-in-flight",
                summary: "keeps a set of URLs in flight; the second caller gets an error",
                code: Code("SetInFlight", in: "ImageCache"),
                listings: [Listing(article: .raceConditions, name: "fix 1: a set of URLs in flight")],
                fault: .breaks(SharedLoad.served, repair: "image-cache in-flight"),
                scenario: scenario { SetInFlight(download: $0) }
            ),
            Version(
                name: "keeps-first",
                summary: "looks again after the await, and keeps the first picture",
                code: Code("KeepsFirst", in: "ImageCache"),
                listings: [Listing(article: .raceConditions, name: "trade-offs: eventual consistency")],
                fault: .breaks(SharedLoad.oneAtATime, repair: "image-cache in-flight"),
                scenario: scenario { KeepsFirst(download: $0) }
            ),
            Version(
                name: "registry",
                summary: "a registry of tasks; the caller that started a task removes it in a defer",
                code: Code("Registry", in: "ImageCache"),
                listings: [Listing(article: .raceConditions, name: "fix 3: a registry of tasks")],
                fault: .breaks(SharedLoad.served, repair: "image-cache in-flight"),
                scenario: scenario { Registry(download: $0) }
            ),
            Version(
                name: "entries",
                summary: "one entry for each URL: in progress with a task, or loaded",
                code: Code("EntryCache", in: "ImageCache"),
                listings: [Listing(article: .strategies, name: "strategy 5: coalesce")],
                fault: .breaks(SharedLoad.served, repair: "image-cache in-flight"),
                scenario: scenario { EntryCache(download: $0) }
            ),
            Version(
                name: "in-flight",
                summary: "a registry of tasks, each of which removes itself with its last step",
                code: Code("InFlight", in: "ImageCache"),
                scenario: scenario { InFlight(download: $0) }
            ),
            Version(
                name: "one-at-a-time",
                summary: "lets each download wait for the one before",
                code: Code("OneAtATime", in: "ImageCache"),
                listings: [Listing(article: .raceConditions, name: "trade-offs: lock the actor harder")],
                fault: .breaks("lost waiter", repair: "image-cache in-flight-apart"),
                scenario: twoURLs { OneAtATime(download: $0) }
            ),
            Version(
                name: "in-flight-apart",
                summary: "the registry, whose tasks of different URLs do not wait for each other",
                code: Code("InFlight", in: "ImageCache"),
                scenario: twoURLs { InFlight(download: $0) }
            ),
        ]
    )

    private static let a = URL(filePath: "/a.png")
    private static let b = URL(filePath: "/b.png")

    private static func scenario(_ make: @escaping @Sendable (@escaping Download) -> any Images) -> Scenario {
        SharedLoad.scenario { load in
            make { _ in Data([UInt8(try await load())]) }
        } ask: { cache in
            Int(try await cache.image(url: a)[0])
        }
    }

    /// The server sends picture A only after a view has shown picture B.
    private static func twoURLs(_ make: @escaping @Sendable (@escaping Download) -> any Images) -> Scenario {
        Scenario("Views of two pictures, one of which comes late") { run in
            let (shown, show) = AsyncStream.makeStream(of: Void.self)
            let cache = make { url in
                note("downloads \(url.lastPathComponent)")
                if url == a { for await _ in shown {} }
                return Data()
            }
            run.operation("view of A") { _ = try await cache.image(url: a) }
            run.operation("view of B") {
                _ = try await cache.image(url: b)
                show.finish()
            }
        }
    }
}

typealias Download = @Sendable (URL) async throws -> Data

protocol Images: Actor {
    func image(url: URL) async throws -> Data
}

actor CheckThenDownload: Images {
    private var store: [URL: Data] = [:]
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        let data = try await download(url)
        store[url] = data
        return data
    }
}

actor SetInFlight: Images {
    private var store: [URL: Data] = [:]
    private var inFlight: Set<URL> = []
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        guard inFlight.insert(url).inserted else { throw CancellationError() }
        defer { inFlight.remove(url) }
        let data = try await download(url)
        store[url] = data
        return data
    }
}

actor KeepsFirst: Images {
    private var store: [URL: Data] = [:]
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        let data = try await download(url)
        let first = store[url] ?? data
        store[url] = first
        return first
    }
}

/// The caller that started a download stores the picture and removes the task, when it wakes.
actor Registry: Images {
    private var store: [URL: Data] = [:]
    private var inFlight: [URL: Task<Data, any Error>] = [:]
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        if let task = inFlight[url] { return try await task.value }
        let task = Task { try await download(url) }
        inFlight[url] = task
        defer { inFlight[url] = nil }
        let data = try await task.value
        store[url] = data
        return data
    }
}

/// One entry for each URL, so that no URL can be in progress and loaded at once.
///
/// The caller that started a download settles its entry when it wakes, as in ``Registry``, and has the same fault.
actor EntryCache: Images {
    private enum Entry {
        case inProgress(Task<Data, any Error>)
        case loaded(Data)
    }

    private var entries: [URL: Entry] = [:]
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        switch entries[url] {
        case .loaded(let data): return data
        case .inProgress(let task): return try await task.value
        case nil: break
        }
        let task = Task { try await download(url) }
        entries[url] = .inProgress(task)
        let result = await task.result
        entries[url] = (try? result.get()).map { .loaded($0) }
        return try result.get()
    }
}

/// The download stores the picture and removes itself: a caller that wakes finds the registry clean.
actor InFlight: Images {
    private var store: [URL: Data] = [:]
    private var inFlight: [URL: Task<Data, any Error>] = [:]
    private var download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    /// For tests: downloads in another way from now on.
    func replaceDownloader(with download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        if let task = inFlight[url] { return try await task.value }
        let task = Task {
            defer { inFlight[url] = nil }
            let data = try await download(url)
            store[url] = data
            return data
        }
        inFlight[url] = task
        return try await task.value
    }
}

actor OneAtATime: Images {
    private var store: [URL: Data] = [:]
    private var last: Task<Data, any Error>?
    private let download: Download

    init(download: @escaping Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        let task = Task { [last] in
            _ = await last?.result
            if let hit = store[url] { return hit }
            let data = try await download(url)
            store[url] = data
            return data
        }
        last = task
        return try await task.value
    }
}
