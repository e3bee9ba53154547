import Dispatch
import Foundation
import TestSupport
import Testing

@testable import race_gallery

/// Tests as the articles write them: many callers at once, and no explorer.
@Suite("A crowd of callers", .eightAtATime, .timeLimit(.minutes(10)))
struct CrowdTests {
    private let url = URL(filePath: "/a.png")

    @Test("shares one download of the image cache, which does not end before all have come")
    func oneDownload() async throws {
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

    @Test("causes a download for each caller where nothing is shared, if none ends before all have begun")
    func downloads() async throws {
        let gate = Gate(after: 50)
        let downloads = LoadCounter { _ in await gate.pass() }
        let cache = CheckThenDownload { _ in Data([UInt8(try await downloads.load())]) }
        try await crowd(of: 50) { _ = try await cache.image(url: url) }
        #expect(downloads.counts.most == 50)
    }

    @Test("of three readers causes three requests of the data cache, or one where reads are coalesced")
    func threeReads() async throws {
        let key = UUID()
        let gate = Gate(after: 3)
        let requests = LoadCounter { _ in await gate.pass() }
        let apart = FetchPerCaller { _ in Data([UInt8(try await requests.load())]) }
        try await crowd(of: 3) { _ = await apart.read(key) }
        #expect(requests.counts.started == 3)

        let sharedGate = Gate(after: 3)
        let sharedRequests = LoadCounter { _ in await sharedGate.wait() }
        let coalesced = Coalesce { _ in Data([UInt8(try await sharedRequests.load())]) }
        try await crowd(of: 3) {
            await sharedGate.arrive()
            _ = await coalesced.read(key)
        }
        #expect(sharedRequests.counts.started == 1)
    }

    /// The explorer finds this overdraft with two callers, at its first schedule.
    @Test("finds the overdraft of the account by luck: never with a fake that answers at once, always behind a gate")
    func account() async throws {
        let lucky = CheckThenAct()
        try await crowd(of: 100) { try? await lucky.withdraw(10) {} }
        #expect(await lucky.balance == 0, "without a suspension nobody comes in between, and the bug is not seen")

        let gate = Gate(after: 100)
        let unlucky = CheckThenAct()
        try await crowd(of: 100) { try? await unlucky.withdraw(10) { await gate.pass() } }
        #expect(await unlucky.balance == 100 - 100 * 10)
    }

    private func crowd(of count: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 1...count { group.addTask { try await call() } }
            try await group.waitForAll()
        }
    }

    @MainActor
    private final class MainActorWallet {
        private(set) var balance = 0

        func add(_ amount: Int, audit: Audit) async {
            let current = balance
            await audit()
            balance = current + amount
        }
    }

    @Test("loses a payment on the main actor as well")
    @MainActor
    func mainActor() async {
        let wallet = MainActorWallet()
        let gate = Gate(after: 2)
        async let first: Void = wallet.add(50) { await gate.pass() }
        async let second: Void = wallet.add(50) { await gate.pass() }
        _ = await (first, second)
        #expect(wallet.balance == 50)
    }

    @Test("is not needed to test version 3: a test passes its queue, and drains it")
    func drainedQueue() async throws {
        struct AtOnce: TokenLoader {
            func load(then handler: @escaping TokenHandler) {
                handler(.success(CachedToken(value: 1, isValid: true)))
            }
        }
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

/// Holds who waits until so many have come.
private actor Gate {
    private var missing: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(after count: Int) {
        missing = count
    }

    func arrive() {
        missing -= 1
        guard missing == 0 else { return }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        if missing > 0 { await withCheckedContinuation { waiters.append($0) } }
    }

    func pass() async {
        arrive()
        await wait()
    }
}
