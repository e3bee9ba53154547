import Dispatch
import Foundation
import TestSupport
import Testing

@testable import race_gallery

/// Tests as the articles write them: many callers at once, and no explorer.
@Suite("A crowd of callers", .takesTurnsToExplore, .endsHangs)
struct CrowdTests {
    private let url = URL(filePath: "/a.png")

    @Test func `shares one download of the image cache, which does not end before all have come`() async throws {
        let gate = Gate(after: 50)
        let downloads = LoadCounter { _ in await gate.wait() }
        let cache = InFlight { _ in Data() }
        await cache.replaceDownloader { _ in Data([UInt8(try await downloads.load())]) }
        try await crowd(of: 50) {
            await gate.arrive()
            _ = try await cache.image(url: url)
        }
        #expect(downloads.counts.started == 1)
    }

    @Test
    func `causes a download for each caller where nothing is shared, if none ends before all have begun`() async throws
    {
        let gate = Gate(after: 50)
        let downloads = LoadCounter { _ in await gate.pass() }
        let cache = CheckThenDownload { _ in Data([UInt8(try await downloads.load())]) }
        try await crowd(of: 50) { _ = try await cache.image(url: url) }
        #expect(downloads.counts.most == 50)
    }

    @Test func `of three readers causes three requests, or one where reads are coalesced`() async throws {
        let gate = Gate(after: 3)
        let requests = LoadCounter { _ in await gate.pass() }
        let apart = CheckThenDownload { _ in Data([UInt8(try await requests.load())]) }
        try await crowd(of: 3) { _ = try await apart.image(url: url) }
        #expect(requests.counts.started == 3)

        let sharedGate = Gate(after: 3)
        let sharedRequests = LoadCounter { _ in await sharedGate.wait() }
        let coalesced = EntryCache { _ in Data([UInt8(try await sharedRequests.load())]) }
        try await crowd(of: 3) {
            await sharedGate.arrive()
            _ = try await coalesced.image(url: url)
        }
        #expect(sharedRequests.counts.started == 1)
    }

    /// The explorer finds this overdraft with two callers, at its first schedule.
    @Test
    func `finds the overdraft of the account by luck: never with a fake that answers at once, always behind a gate`()
        async throws
    {
        let lucky = CheckThenAct()
        try await crowd(of: 100) { try? await lucky.withdraw(10) {} }
        #expect(await lucky.balance == 0, "without a suspension nobody comes in between, and the bug is not seen")

        let gate = Gate(after: 100)
        let unlucky = CheckThenAct()
        try await crowd(of: 100) { try? await unlucky.withdraw(10) { await gate.pass() } }
        #expect(await unlucky.balance == 100 - 100 * 10)
    }

    private struct AtOnce: TokenLoader {
        func load(then handler: @escaping TokenHandler) {
            handler(.success(CachedToken(value: 1, isValid: true)))
        }
    }

    @Test func `waits behind a handler that blocks the queue of version 3, though a valid token is there`() async {
        let queue = DispatchQueue(label: "injected")
        let service = AccessTokenServiceVersion3(loader: AtOnce(), queue: queue)
        let (isRunning, mayGoOn, second) = (Event(), DispatchSemaphore(value: 0), Event())
        service.retrieveToken { _ in
            isRunning.happen()
            mayGoOn.wait()
        }
        await isRunning.wait()
        service.retrieveToken { _ in second.happen() }
        #expect(!second.hasHappened, "the token is there, and the queue is not")
        mayGoOn.signal()
        queue.sync {}
        #expect(second.hasHappened)
    }

    @Test func `is not needed to test version 3: a test passes its queue, and drains it`() async throws {
        let queue = DispatchQueue(label: "injected")
        let service = AccessTokenServiceVersion3(loader: AtOnce(), queue: queue)
        let (answers, answer) = AsyncStream.makeStream(of: Int?.self)
        for _ in 1...2 {
            service.retrieveToken { answer.yield(try? $0.get().value) }
        }
        // The first drain runs the calls, whose load puts its answer on the queue. The second drain runs the answer.
        queue.sync {}
        queue.sync {}
        answer.finish()
        #expect(await answers.reduce(into: []) { $0.append($1) } == [1, 1])
    }
}
