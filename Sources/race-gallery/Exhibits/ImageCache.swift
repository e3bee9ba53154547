import Foundation
import InterleavingExplorer

/// A cache that is empty when two callers ask for the same picture.
enum ImageCache {
    private static let title = "Two views show the picture of one URL"

    static let exhibit = Exhibit(
        name: "image-cache",
        title: title,
        story: """
            The cache is empty, so both views download, and the server has a newer picture for the second. To keep \
            the first picture mends what is shown, not what is paid for: the work is done before the second look.
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
            .fix("in-flight", "keeps a registry of downloads under way", scenario(.sharesDownload)),
        ]
    )

    private static func scenario(_ style: Images.Style) -> Scenario {
        Scenario(title) { run in
            let images = Images(style) { number in await run.pause("picture \(number)") }
            let views = ["first view", "second view"].map { name in
                run.operation(name) {
                    let image = try await images.image(at: url())
                    note("shows picture \(image)")
                    return image
                }
            }
            run.invariant("both views show the same picture") { views[0].value == views[1].value }
            run.invariant("one download") { await images.downloads == 1 }
        }
    }

    private static func url() throws -> URL {
        guard let url = URL(string: "https://example.com/picture.png") else { throw URLError(.badURL) }
        return url
    }
}

private actor Images {
    enum Style: Sendable {
        case storesAlways
        case keepsFirst
        case sharesDownload
    }

    private(set) var downloads = 0
    private var images: [URL: Int] = [:]
    private var inFlight: [URL: Task<Int, Never>] = [:]
    private let style: Style
    private let server: @Sendable (Int) async -> Void

    init(_ style: Style, server: @escaping @Sendable (Int) async -> Void) {
        self.style = style
        self.server = server
    }

    func image(at url: URL) async -> Int {
        if let image = images[url] {
            return image
        }
        switch style {
        case .storesAlways:
            let image = await download(url)
            images[url] = image
            return image
        case .keepsFirst:
            let image = await download(url)
            let first = images[url, default: image]
            images[url] = first
            return first
        case .sharesDownload:
            // Looked up and entered in one step: nobody comes in between.
            if let task = inFlight[url] {
                return await task.value
            }
            let task = Task {
                let image = await download(url)
                images[url] = image
                inFlight[url] = nil
                return image
            }
            inFlight[url] = task
            return await task.value
        }
    }

    /// The server draws a new picture for each download.
    private func download(_ url: URL) async -> Int {
        downloads += 1
        let number = downloads
        note("starts download \(number)")
        await server(number)
        return number
    }
}
