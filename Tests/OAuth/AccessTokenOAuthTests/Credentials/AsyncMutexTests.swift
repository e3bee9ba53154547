import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Tasks that exclude each other", .eightAtATime, .timeLimit(.minutes(10)))
struct AsyncMutexTests {
    @Test func `come in in the order of their arrival`() async throws {
        let clock = ManualClock()
        let mutex = AsyncMutex(waitLimit: 10, clock: clock)
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
}
