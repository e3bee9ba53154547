import TestSupport
import Testing

@testable import RaceGallery

@Suite("Fifty callers of the image cache", .eightAtATime, .timeLimit(.minutes(10)))
struct CrowdTests {
    @Test("share one download, and cause fifty where nothing is shared")
    func downloads() async throws {
        #expect(try await downloads(.sharesDownload, until: 1) == 1)
        #expect(try await downloads(.storesAlways, until: 50) == 50)
    }

    /// The downloads of one picture if fifty tasks ask for it, and no download ends before so many have begun.
    private func downloads(_ style: Images.Style, until count: Int) async throws -> Int? {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let gate = Latch()
        let images = Images(style) { _, _ in
            begin.yield()
            await gate.wait()
        }
        try await withThrowingTaskGroup { group in
            for _ in 1...50 {
                group.addTask { _ = try await images.image(at: "a.png") }
            }
            var started = 0
            for await _ in begun {
                started += 1
                if started == count { break }
            }
            await gate.open()
            try await group.waitForAll()
        }
        return await images.downloads["a.png"]
    }
}
