import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The store in memory", .eightAtATime, .timeLimit(.minutes(10)))
struct MemoryCredentialStoreTests {
    private struct Refusal: Error {}
    private let first = Credential(refreshToken: "RT1")
    private let second = Credential(refreshToken: "RT2")

    @Test func `the version grows with each replacement, stays with keep, and survives a removal`() async throws {
        let store = MemoryCredentialStore(first)
        #expect(try await store.load() == CredentialRecord(credential: first, version: 1))
        #expect(try await store.update { _ in .replace(second) } == CredentialRecord(credential: second, version: 2))
        #expect(try await store.update { _ in .keep } == CredentialRecord(credential: second, version: 2))
        #expect(try await store.update { _ in .remove } == nil)
        #expect(try await store.load() == nil)
        #expect(try await store.update { _ in .replace(first) } == CredentialRecord(credential: first, version: 3))
    }

    @Test func `a body that throws writes nothing and lets the next one in`() async throws {
        let store = MemoryCredentialStore(first)
        await #expect(throws: Refusal.self) { try await store.update { _ in throw Refusal() } }
        #expect(try await store.update { _ in .keep } == CredentialRecord(credential: first, version: 1))
    }

    @Test func `two hundred bodies run one at a time, each with what the one before wrote`() async throws {
        let store = MemoryCredentialStore(Credential(refreshToken: "0"))
        let occupancy = Occupancy()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await store.update { record in
                        occupancy.enter()
                        await Task.yield()
                        occupancy.leave()
                        let number = try #require(record?.credential.refreshToken.flatMap { Int($0) })
                        return .replace(Credential(refreshToken: "\(number + 1)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(occupancy.most == 1)
        #expect(try await store.refreshToken == "200")
        #expect(try await store.version == 201)
    }

    @Test func `who waits too long is told that the store is busy, and who loads waits for nobody`() async throws {
        let clock = ManualClock()
        let store = MemoryCredentialStore(first, waitLimit: 10, clock: clock)
        let (isInside, mayLeave) = (Event(), Event())
        async let holder = store.update { _ in
            isInside.happen()
            await mayLeave.wait()
            return .replace(second)
        }
        await isInside.wait()
        let waiter = Task { try await store.update { _ in .remove } }
        await yieldUntil { clock.pendingTimers == 1 }
        #expect(try await store.credential == first)
        clock.advance(by: 10)
        await #expect(throws: CredentialStoreError.busy) { try await waiter.value }
        mayLeave.happen()
        #expect(try await holder == CredentialRecord(credential: second, version: 2))
        #expect(try await store.update { _ in .keep } == CredentialRecord(credential: second, version: 2))
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a cancelled task gives up its place, and the others keep theirs`() async throws {
        let clock = ManualClock()
        let store = MemoryCredentialStore(first, clock: clock)
        let (isInside, mayLeave) = (Event(), Event())
        async let holder = store.update { _ in
            isInside.happen()
            await mayLeave.wait()
            return .keep
        }
        await isInside.wait()
        let waiters = (0..<3).map { number in
            Task { try await store.update { _ in .replace(Credential(refreshToken: "by \(number)")) } }
        }
        await yieldUntil { clock.pendingTimers == 3 }
        waiters[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiters[1].value }
        mayLeave.happen()
        _ = try await (holder, waiters[0].value, waiters[2].value)
        #expect(try await store.version == 3)
        #expect(clock.pendingTimers == 0)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            _ = try await store.update { _ in .remove }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await store.load() != nil)
    }

    private final class Order: Sendable {
        let numbers = Locked<[Int]>([])
    }

    @Test func `those that wait come in in the order of their arrival`() async throws {
        let clock = ManualClock()
        let mutex = AsyncMutex(waitLimit: 10, clock: clock)
        try await mutex.lock()
        let order = Order()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    try await mutex.lock()
                    order.numbers.withLock { $0.append(number) }
                    mutex.unlock()
                }
            )
            await yieldUntil { clock.pendingTimers == number + 1 }
        }
        mutex.unlock()
        for task in tasks { try await task.value }
        #expect(order.numbers.withLock { $0 } == [0, 1, 2, 3, 4])
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a record that was stored before there were other members is read`() throws {
        let stored = Data(#"{"credential":{"refreshToken":"RT0","scope":"read"},"version":3}"#.utf8)
        let record = try JSONDecoder().decode(CredentialRecord.self, from: stored)
        let credential = Credential(refreshToken: "RT0", scope: "read")
        #expect(record == CredentialRecord(credential: credential, version: 3))
    }

    @Test func `a credential prints no secret, and is stored with all of them`() throws {
        let credential = Credential(accessToken: AccessToken(value: "s3cret"), refreshToken: "s3cret", scope: "read")
        let record = CredentialRecord(credential: credential, version: 1)
        for shown in [everythingShown(by: credential), everythingShown(by: record)] {
            #expect(!shown.contains("s3cret"))
        }
        #expect(!everythingShown(by: CredentialChange.replace(credential)).contains("s3cret"))
        let decoded = try JSONDecoder().decode(CredentialRecord.self, from: JSONEncoder().encode(record))
        #expect(decoded == record)
    }
}

/// Counts how many are inside at once.
final class Occupancy: Sendable {
    private let counts = Locked((inside: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }

    func leave() {
        counts.withLock { $0.inside -= 1 }
    }
}
