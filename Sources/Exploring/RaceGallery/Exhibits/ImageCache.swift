import Foundation
import InterleavingExplorer

/// The image cache that grows through the fixes: one download for all views of a picture.
@available(Executors, *)
enum ImageCache {
    static let exhibit = Exhibit(
        name: "image-cache",
        title: SharedLoad.title,
        story: """
            The cache is empty, so both views download. Keeping the first picture corrects what is shown, but both \
            downloads are paid for. A set of the URLs in flight only tells the second caller that it came too late. A \
            registry of tasks gives the second caller a task to await. If the caller that started the task removes \
            it, another caller may wake first, try again, and join the task that has failed. Downloads of different \
            URLs must not wait for each other: in two of the versions, the server sends the first picture only after \
            another view has its own.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                "check-then-download",
                "downloads when it finds no picture",
                of: Listing(.raceConditions, "pattern A: duplicate work"),
                breaks: SharedLoad.oneAtATime,
                repair: "image-cache in-flight",
                scenario(CheckThenDownload.init) { try await $0.image(url: $1) }
            ),
            Version(
                "set-in-flight",
                "keeps a set of URLs in flight; the second caller gets an error",
                of: Listing(.raceConditions, "fix 1: a set of URLs in flight"),
                breaks: SharedLoad.served,
                repair: "image-cache in-flight",
                scenario(SetInFlight.init) { try await $0.image(url: $1) }
            ),
            Version(
                "keeps-first",
                "looks again after the await, and keeps the first picture",
                of: Listing(.raceConditions, "trade-offs: eventual consistency"),
                breaks: SharedLoad.oneAtATime,
                repair: "image-cache in-flight",
                scenario(KeepsFirst.init) { try await $0.image(url: $1) }
            ),
            Version(
                "registry",
                "a registry of tasks; the caller that started a task removes it in a defer",
                of: Listing(.raceConditions, "fix 3: a registry of tasks"),
                breaks: SharedLoad.served,
                repair: "image-cache in-flight",
                scenario(Registry.init) { try await $0.image(url: $1) }
            ),
            Version(
                "in-flight",
                "a registry of tasks, each of which removes itself with its last step",
                scenario(InFlight.init) { try await $0.image(url: $1) }
            ),
            Version(
                "one-at-a-time",
                "lets each download wait for the one before",
                of: Listing(.raceConditions, "trade-offs: lock the actor harder"),
                breaks: "lost waiter",
                repair: "image-cache in-flight-apart",
                twoURLs(OneAtATime.init) { try await $0.image(url: $1) }
            ),
            Version(
                "in-flight-apart",
                "the registry, whose tasks of different URLs do not wait for each other",
                twoURLs(InFlight.init) { try await $0.image(url: $1) }
            ),
        ]
    )

    typealias Download = @Sendable (URL) async throws -> Data

    private static let a = URL(filePath: "/a.png")
    private static let b = URL(filePath: "/b.png")

    private static func scenario<Cache: Actor>(
        _ make: @escaping @Sendable (@escaping Download) -> Cache,
        image: @escaping @Sendable (Cache, URL) async throws -> Data
    ) -> Scenario {
        SharedLoad.scenario { load in
            make { _ in Data([UInt8(try await load())]) }
        } ask: { cache in
            Int(try await image(cache, a)[0])
        }
    }

    /// The server sends picture A only after a view has shown picture B.
    private static func twoURLs<Cache: Actor>(
        _ make: @escaping @Sendable (@escaping Download) -> Cache,
        image: @escaping @Sendable (Cache, URL) async throws -> Data
    ) -> Scenario {
        Scenario("Views of two pictures, one of which comes late") { run in
            let (shown, show) = AsyncStream.makeStream(of: Void.self)
            let cache = make { url in
                note("downloads \(url.lastPathComponent)")
                if url == a { for await _ in shown {} }
                return Data()
            }
            run.operation("view of A") { _ = try await image(cache, a) }
            run.operation("view of B") {
                _ = try await image(cache, b)
                show.finish()
            }
        }
    }
}

@available(Executors, *)
actor CheckThenDownload {
    private var store: [URL: Data] = [:]
    private let download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
        self.download = download
    }

    func image(url: URL) async throws -> Data {
        if let hit = store[url] { return hit }
        let data = try await download(url)
        store[url] = data
        return data
    }
}

@available(Executors, *)
actor SetInFlight {
    private var store: [URL: Data] = [:]
    private var inFlight: Set<URL> = []
    private let download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
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

@available(Executors, *)
actor KeepsFirst {
    private var store: [URL: Data] = [:]
    private let download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
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
@available(Executors, *)
actor Registry {
    private var store: [URL: Data] = [:]
    private var inFlight: [URL: Task<Data, any Error>] = [:]
    private let download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
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

/// The download stores the picture and removes itself: a caller that wakes finds the registry clean.
@available(Executors, *)
actor InFlight {
    private var store: [URL: Data] = [:]
    private var inFlight: [URL: Task<Data, any Error>] = [:]
    private var download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
        self.download = download
    }

    /// For tests: downloads in another way from now on.
    func replaceDownloader(with download: @escaping ImageCache.Download) {
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

@available(Executors, *)
actor OneAtATime {
    private var store: [URL: Data] = [:]
    private var last: Task<Data, any Error>?
    private let download: ImageCache.Download

    init(download: @escaping ImageCache.Download) {
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
