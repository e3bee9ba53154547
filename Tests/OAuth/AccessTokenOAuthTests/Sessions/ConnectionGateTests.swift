import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("How many connections are open at once", .eightAtATime, .timeLimit(.minutes(10)))
struct ConnectionGateTests {
    private typealias Place = ConnectionGate.Place

    @Test func `places are given in the order of asking, to each host by itself`() async {
        let gate = ConnectionGate(limit: 2)
        let entered = Locked<[String: Place]>([:])
        func enter(_ name: String, _ host: String) {
            gate.enter(host) { place in entered.withLock { $0[name] = place } }
        }
        for name in ["a", "b", "c", "d"] { enter(name, "host") }
        enter("e", "other")
        #expect(Set(entered.withLock { $0.keys }) == ["a", "b", "e"])
        entered.withLock { $0["a"] = nil }
        await yieldUntil { entered.withLock { $0["c"] != nil } }
        #expect(entered.withLock { $0["d"] } == nil)
        entered.withLock { $0["b"] = nil }
        await yieldUntil { entered.withLock { $0["d"] != nil } }
        entered.withLock { $0 = [:] }
        for name in ["f", "g"] { enter(name, "host") }
        #expect(Set(entered.withLock { $0.keys }) == ["f", "g"])
    }

    @Test func `whoever has a place is not kept by the line any more`() async throws {
        final class Guest: Sendable {}
        let gate = ConnectionGate(limit: 1)
        let held = Locked<Place?>(nil)
        let entered = Locked(0)
        gate.enter("host") { place in held.withLock { $0 = place } }
        var guest: Guest? = Guest()
        let reference = WeakReference(guest)
        for guest in [guest, nil] {
            gate.enter("host") { place in
                withExtendedLifetime(guest) { held.withLock { $0 = place } }
                entered.withLock { $0 += 1 }
            }
        }
        guest = nil
        #expect(reference.object != nil)
        held.withLock { $0 = nil }
        await yieldUntil { entered.withLock { $0 } == 1 }
        // The next one still waits.
        await yieldUntil { reference.object == nil }
        #expect(reference.object == nil)
    }

    @Test func `a long line of those that give up at once comes to its end`() async {
        let gate = ConnectionGate(limit: 1)
        let first = Locked<Place?>(nil)
        gate.enter("host") { place in first.withLock { $0 = place } }
        let passed = Locked(0)
        for _ in 0..<50_000 { gate.enter("host") { _ in passed.withLock { $0 += 1 } } }
        first.withLock { $0 = nil }
        await yieldUntil { passed.withLock { $0 } == 50_000 }
    }

    #if canImport(FoundationNetworking)
    @Test(arguments: SessionKind.allCases)
    func `the configuration says it, and whoever gives up makes room at once`(kind: SessionKind) async throws {
        let open = Locked(0)
        let most = Locked(0)
        let gate = Gate()
        try await withServer { connection, _ in
            let now = open.withLock { open in
                open += 1
                return open
            }
            most.withLock { $0 = max($0, now) }
            gate.pass()
            open.withLock { $0 -= 1 }
            connection.reply(200, "")
        } _: { server in
            defer { for _ in 0..<40 { gate.open() } }
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.httpMaximumConnectionsPerHost = 3
            let session = kind.session(
                SampleTokens.service().0,
                origins: [try server.url],
                configuration: configuration
            )
            let request = URLRequest(url: try server.resource)
            let tasks = (0..<20).map { _ in Task { try await session.data(for: request).1.status } }
            await yieldUntil { open.withLock { $0 } == 3 }
            for _ in 0..<17 { gate.open() }
            await yieldUntil { server.requests.count == 20 }
            try #require(server.requests.count == 20)
            #expect(most.withLock { $0 } <= 3)
            // The server is silent, so that these three stay open; nobody waits for them any more.
            await yieldUntil { open.withLock { $0 } == 3 }
            for task in tasks { task.cancel() }
            let late = Task { try await session.data(for: request).1.status }
            await yieldUntil { server.requests.count == 21 }
            try #require(server.requests.count == 21)
            for _ in 0..<4 { gate.open() }
            #expect(try await late.value == 200)
        }
    }
    #endif
}
