import AccessTokenContract
import AccessTokenSynchronization
import TestSupport
import Testing

private struct TimedOut: Error {}
private struct NotNeeded: Error {}

@Suite("Tasks that exclude each other", .takesTurns, .endsHangs)
struct AsyncMutexTests {
    private let clock = ManualClock()
    private let mutex: AsyncMutex

    init() {
        mutex = AsyncMutex(waitLimit: 10, clock: clock, timedOut: TimedOut())
    }

    @Test func `come in in the order of their arrival`() async throws {
        try await mutex.lock()
        let (order, arrival) = AsyncStream.makeStream(of: Int.self)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    try await mutex.lock()
                    arrival.yield(number)
                    mutex.unlock()
                }
            )
            await yieldUntil { clock.pendingTimers == number + 1 }
        }
        mutex.unlock()
        for task in tasks { try await task.value }
        arrival.finish()
        let numbers = await order.reduce(into: []) { $0.append($1) }
        #expect(numbers == [0, 1, 2, 3, 4])
        #expect(clock.pendingTimers == 0)
    }

    @Test func `are told whether they have waited`() async throws {
        let hasWaitedForNobody = try await mutex.lock()
        let second = Task { try await mutex.lock() }
        await yieldUntil { mutex.waiting == 1 }
        mutex.unlock()
        let hasWaited = try await second.value
        #expect(!hasWaitedForNobody && hasWaited)
    }

    @Test func `wait no longer than the limit`() async throws {
        try await mutex.lock()
        let second = Task { try await mutex.lock() }
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 10)
        await #expect(throws: TimedOut.self) { try await second.value }
        #expect(mutex.waiting == 0)
    }

    @Test func `leave the line when they are cancelled`() async throws {
        try await mutex.lock()
        let second = Task { try await mutex.lock() }
        await yieldUntil { mutex.waiting == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(mutex.waiting == 0)
    }

    @Test func `all fail together, and the next one comes in at once`() async throws {
        try await mutex.lock()
        let others = (0..<3).map { _ in Task { try await mutex.lock() } }
        await yieldUntil { mutex.waiting == 3 }
        mutex.fail(NotNeeded())
        for other in others { await #expect(throws: NotNeeded.self) { try await other.value } }
        #expect(try await mutex.lock() == false)
    }
}

@Suite("Tasks that exclude those of the same key", .takesTurns, .endsHangs)
struct KeyedMutexTests {
    private let mutex = KeyedMutex<String>()

    @Test func `wait for no other key`() async throws {
        try await mutex.lock("a")
        #expect(try await mutex.lock("b") == false)
        #expect(mutex.locked == 2)
    }

    @Test func `are handed their own key`() async throws {
        try await mutex.lock("a")
        try await mutex.lock("b")
        let second = Task { try await mutex.lock("a") }
        await yieldUntil { mutex.waiting == 1 }
        mutex.unlock("b")
        #expect(mutex.waiting == 1)
        mutex.unlock("a")
        let hasWaited = try await second.value
        #expect(hasWaited)
    }

    @Test func `leave nothing behind, however they end`() async throws {
        try await mutex.lock("a")
        let cancelled = Task { try await mutex.lock("a") }
        await yieldUntil { mutex.waiting == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let failed = Task { try await mutex.lock("a") }
        await yieldUntil { mutex.waiting == 1 }
        mutex.fail("a", NotNeeded())
        await #expect(throws: NotNeeded.self) { try await failed.value }
        #expect(mutex.locked == 0)

        try await mutex.lock("a")
        let second = Task { try await mutex.lock("a") }
        await yieldUntil { mutex.waiting == 1 }
        mutex.unlock("a")
        _ = try await second.value
        #expect(mutex.locked == 1)
        mutex.unlock("a")
        #expect(mutex.locked == 0)
    }
}
