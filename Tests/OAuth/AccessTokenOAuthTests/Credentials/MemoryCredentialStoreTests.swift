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
