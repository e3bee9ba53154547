import Foundation
import InterleavingExplorer

/// A cache that is empty when two callers ask for the same picture, and one for another.
@available(Executors, *)
enum ImageCache {
    private static let title = "Two views show the picture of one URL, and a third shows another"

    static let exhibit = Exhibit(
        name: "image-cache",
        title: title,
        story: """
            The cache is empty, so both views download, and the server has a newer picture for the second view. \
            Keeping the first picture corrects what is shown, but both downloads are paid for. A set of the URLs in \
            progress only tells the second caller that it came too late. A registry of tasks gives the second caller \
            a task to await, and must forget a task that has failed. Downloads of different URLs must not wait for \
            each other: here the server sends the first picture only after the other view has its own. If the store \
            is an actor of its own, asking it is an await, and the registry may have changed after that await.
            """,
        invariants: ["both views show the same picture", "one download"],
        versions: [
            .faulty(
                "check-then-download",
                breaks: "both views show the same picture",
                "stores whatever it has downloaded",
                scenario(.storesAlways)
            ),
            .wrongFix(
                "keeps-first",
                breaks: "one download",
                "looks again after the await, and keeps the first",
                scenario(.keepsFirst)
            ),
            .wrongFix(
                "set-of-urls",
                breaks: "both views show the same picture",
                "keeps a set of URLs in progress; the second caller gets an error",
                scenario(.refusesSecond)
            ),
            .wrongFix(
                "one-at-a-time",
                breaks: "lost waiter",
                "lets each download wait for the one before",
                scenario(.oneAtATime)
            ),
            .wrongFix(
                "store-first",
                breaks: "both views show the same picture",
                "awaits the store, then looks into the registry",
                scenario(.asksStoreFirst, withOther: false)
            ),
            .wrongFix(
                "success-clears",
                breaks: "both views show the same picture",
                "forgets a task in the registry when it succeeds",
                scenario(.forgetsSuccess, withOther: false, firstFails: true)
            ),
            .fix("in-flight", "keeps a registry of running downloads", scenario(.sharesDownload)),
            .fix(
                "store-apart",
                "looks into the registry, whose task awaits the store",
                scenario(.asksStoreInTask, withOther: false, firstFails: true)
            ),
        ]
    )

    private static func scenario(
        _ style: Images.Style,
        withOther: Bool = true,
        firstFails: Bool = false
    ) -> Scenario {
        Scenario(title) { run in
            let other = Latch()
            let images = Images(style) {
                await run.pause("nothing on disk")
            } server: { url, number in
                guard url == "a.png" else { return }
                if withOther { await other.wait() }
                let isFailure = firstFails && number == 1
                await run.pause(isFailure ? "failure" : "picture \(number)")
                if isFailure { throw DownloadFailed() }
            }
            let views = ["first view", "second view"].map { name in
                run.operation(name, mayThrow: true) {
                    let image: Int
                    do {
                        image = try await images.image(at: "a.png")
                    } catch is DownloadFailed {
                        note("tries once more")
                        image = try await images.image(at: "a.png")
                    }
                    note("shows picture \(image)")
                    return image
                }
            }
            if withOther {
                run.operation("other view") {
                    _ = try await images.image(at: "b.png")
                    await other.open()
                }
            }
            run.invariant("both views show the same picture") {
                views[0].value != nil && views[0].value == views[1].value
            }
            run.invariant("one download") { await images.downloads["a.png"] == (firstFails ? 2 : 1) }
        }
    }
}

@available(Executors, *)
private struct DownloadFailed: Error {}

/// Holds tasks up until it is opened.
@available(Executors, *)
actor Latch {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// The pictures on disk.
@available(Executors, *)
private actor ImageStore {
    private var images: [String: Int] = [:]
    private let disk: @Sendable () async -> Void

    init(disk: @escaping @Sendable () async -> Void) {
        self.disk = disk
    }

    func image(at url: String) async -> Int? {
        let image = images[url]
        await disk()
        return image
    }

    func insert(_ image: Int, at url: String) { images[url] = image }
}

/// The cache of all versions; a URL is its last component, and a picture is the number of its download.
@available(Executors, *)
actor Images {
    enum Style: Sendable {
        case storesAlways
        case keepsFirst
        case refusesSecond
        case oneAtATime
        case asksStoreFirst
        case forgetsSuccess
        case sharesDownload
        case asksStoreInTask
    }

    struct AlreadyInProgress: Error {}

    private(set) var downloads: [String: Int] = [:]
    private var images: [String: Int] = [:]
    private let store: ImageStore
    private var urlsInProgress: Set<String> = []
    private var inFlight: [String: Task<Int, any Error>] = [:]
    private var last: Task<Int, any Error>?
    private let style: Style
    private let server: @Sendable (String, Int) async throws -> Void

    init(
        _ style: Style,
        disk: @escaping @Sendable () async -> Void = {},
        server: @escaping @Sendable (String, Int) async throws -> Void
    ) {
        self.style = style
        store = ImageStore(disk: disk)
        self.server = server
    }

    func image(at url: String) async throws -> Int {
        if let image = images[url] {
            return image
        }
        switch style {
        case .storesAlways:
            let image = try await download(url)
            images[url] = image
            return image
        case .keepsFirst:
            let image = try await download(url)
            let first = images[url, default: image]
            images[url] = first
            return first
        case .refusesSecond:
            guard urlsInProgress.insert(url).inserted else {
                note("throws: already in progress")
                throw AlreadyInProgress()
            }
            defer { urlsInProgress.remove(url) }
            let image = try await download(url)
            images[url] = image
            return image
        case .oneAtATime:
            let task = Task { [last] in
                _ = try? await last?.value
                if let image = images[url] { return image }
                let image = try await download(url)
                images[url] = image
                return image
            }
            last = task
            return try await task.value
        case .forgetsSuccess, .sharesDownload:
            // Looked up and entered in one step: no other call comes in between.
            return try await shared(url) {
                let image = try await self.download(url)
                await self.keep(image, at: url)
                return image
            }
        case .asksStoreFirst:
            if let image = await store.image(at: url) {
                return image
            }
            note("finds nothing in the store")
            return try await shared(url) { try await self.downloadIntoStore(url) }
        case .asksStoreInTask:
            return try await shared(url) {
                if let image = await self.store.image(at: url) { return image }
                return try await self.downloadIntoStore(url)
            }
        }
    }

    private func shared(_ url: String, _ load: @escaping @Sendable () async throws -> Int) async throws -> Int {
        if let task = inFlight[url] {
            return try await task.value
        }
        let task = Task {
            defer { if style != .forgetsSuccess { inFlight[url] = nil } }
            let image = try await load()
            inFlight[url] = nil
            return image
        }
        inFlight[url] = task
        return try await task.value
    }

    private func keep(_ image: Int, at url: String) {
        images[url] = image
    }

    private func downloadIntoStore(_ url: String) async throws -> Int {
        let image = try await download(url)
        await store.insert(image, at: url)
        return image
    }

    /// The server draws a new picture for each download.
    private func download(_ url: String) async throws -> Int {
        downloads[url, default: 0] += 1
        let number = downloads[url, default: 0]
        note("starts download \(number) of \(url)")
        try await server(url, number)
        return number
    }
}
