import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore
@testable import AccessTokenGCD
@testable import AccessTokenSynchronization

#if !canImport(Darwin) && !THREAD_SANITIZER
import Synchronization
#endif

/// What must hold on every thread, however many read and wait at once.
///
/// Which call meets which is left to chance; the thread sanitizer looks on as well.
@Suite("On sixteen threads", .takesTurns, .serialized, .endsHangs)
struct ManyThreadsTests {
    static let threads = 16
    private static let rounds = Effort.isThorough ? 500 : 100

    /// What came of the calls of a test.
    private final class Tally: Sendable {
        private let state = Locked((tries: 0, faults: 0, isOver: false))

        var tries: Int { state.withLock { $0.tries } }
        var faults: Int { state.withLock { $0.faults } }
        var isOver: Bool { state.withLock { $0.isOver } }

        func end() { state.withLock { $0.isOver = true } }

        func note(isRight: Bool) {
            state.withLock { state in
                state.tries += 1
                if !isRight { state.faults += 1 }
            }
        }
    }

    /// Runs `body` on threads until `writer` has ended; on each thread once at least.
    private func onThreads(
        beside writer: @escaping @Sendable (Tally) -> Void,
        _ body: @escaping @Sendable (Tally) -> Void
    ) async -> Tally {
        let tally = Tally()
        let areDone = DispatchGroup()
        for _ in 0..<Self.threads {
            areDone.enter()
            Thread.detachNewThread {
                repeat { body(tally) } while !tally.isOver
                areDone.leave()
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                writer(tally)
                tally.end()
                areDone.notify(queue: .global()) { continuation.resume() }
            }
        }
        return tally
    }

    private static func token(_ number: Int) -> AccessToken {
        // Long enough to be on the heap.
        AccessToken(value: String(repeating: "t0ken", count: 8) + "\(number)")
    }

    private static func number(_ token: AccessToken?) -> Int? { token.flatMap { Int($0.value.dropFirst(40)) } }

    /// A service that many threads have read already: each processor has a copy of the token.
    private func inDemand(_ service: AccessTokenService) -> AccessTokenService {
        #if !canImport(Darwin) && !THREAD_SANITIZER
        for _ in 0..<200 { service.snapshot.published.waitForOthers() }
        #endif
        return service
    }

    /// Brings another token each time, from another thread.
    private final class CountingLoader: AccessTokenLoader {
        private let loads = Locked(0)
        private let queue = DispatchQueue(label: "loader")

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            let number = loads.withLock { loads in
                loads += 1
                return loads
            }
            queue.async { handler(.success(token(number))) }
        }
    }

    @Test func `nobody reads a token that was replaced before`() async {
        let service = inDemand(AccessTokenService(token: Self.token(0), loader: CountingLoader()))
        let last = Locked(0)
        let tally = await onThreads { _ in
            for number in 1...2_000 {
                service.signIn(Self.token(number))
                last.withLock { $0 = number }
            }
        } _: { tally in
            let least = last.withLock { $0 }
            tally.note(isRight: Self.number(service.currentToken) ?? -1 >= least)
        }
        #expect(tally.faults == 0, "of \(tally.tries)")
    }

    @Test func `nobody reads a token after it was rejected, or its session signed out (I1, O1)`() async {
        let service = inDemand(AccessTokenService(token: Self.token(0), loader: SilentLoader()))
        // Even: this token is there. Odd: there is none. `nil`: it changes.
        let phase = Locked<Int?>(nil)
        let tally = await onThreads { _ in
            for number in 1...Self.rounds {
                service.signIn(Self.token(2 * number))
                phase.withLock { $0 = 2 * number }
                sched_yield()
                phase.withLock { $0 = nil }
                if number.isMultiple(of: 2) { service.signOut {} } else { service.invalidate(Self.token(2 * number)) }
                phase.withLock { $0 = 2 * number + 1 }
                sched_yield()
                phase.withLock { $0 = nil }
            }
        } _: { tally in
            let before = phase.withLock { $0 }
            let read = Self.number(service.currentToken)
            guard let before, phase.withLock({ $0 }) == before else { return }
            tally.note(isRight: read == (before.isMultiple(of: 2) ? before : nil))
        }
        #expect(tally.faults == 0, "of \(tally.tries)")
    }

    /// Never answers.
    private final class SilentLoader: AccessTokenLoader {
        private let handlers = Locked<[AccessTokenHandler]>([])
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handlers.withLock { $0.append(handler) }
        }
    }

    @Test func `whoever is answered reads the token (D9)`() async {
        let service = inDemand(AccessTokenService(loader: CountingLoader()))
        let tally = await onThreads { tally in
            for _ in 1...100 {
                let answered = DispatchGroup()
                for _ in 0..<8 {
                    answered.enter()
                    service.retrieveToken { result in
                        tally.note(isRight: service.currentToken == result.token)
                        answered.leave()
                    }
                }
                answered.wait()
                if let token = service.currentToken { service.invalidate(token) }
            }
        } _: { _ in
            _ = service.currentToken
        }
        #expect(tally.faults == 0, "of \(tally.tries)")
        #expect(tally.tries == 800)
    }

    @Test func `whoever reads the new token is answered after all who waited (D2)`() async {
        let service = inDemand(AccessTokenService(loader: CountingLoader()))
        let tally = await onThreads { tally in
            for _ in 1...100 {
                let answered = DispatchGroup()
                let answers = Locked<[Int]>([])
                func retrieve(_ number: Int) {
                    answered.enter()
                    service.retrieveToken { _ in
                        answers.withLock { $0.append(number) }
                        answered.leave()
                    }
                }
                for number in 0..<20 { retrieve(number) }
                while service.currentToken == nil { sched_yield() }
                retrieve(20)
                answered.wait()
                tally.note(isRight: answers.withLock { $0 } == Array(0...20))
                if let token = service.currentToken { service.invalidate(token) }
            }
        } _: { _ in
            _ = service.currentToken
        }
        #expect(tally.faults == 0, "of \(tally.tries)")
    }

    @Test func `every caller is answered once, cancelled or not (D1)`() async {
        let service = inDemand(AccessTokenService(loader: CountingLoader()))
        let calls = Locked<[Int]>([])
        let areAnswered = DispatchGroup()
        let tally = await onThreads { _ in
            for round in 1...Self.rounds {
                if round.isMultiple(of: 7) {
                    service.signOut {}
                    service.signIn()
                }
                if let token = service.currentToken { service.invalidate(token) }
                sched_yield()
            }
            service.signIn(Self.token(0))
        } _: { tally in
            for call in 0..<30 {
                areAnswered.enter()
                let number = calls.withLock { calls in
                    calls.append(0)
                    return calls.count - 1
                }
                let retrieval = service.retrieveToken { _ in
                    let times = calls.withLock { calls in
                        calls[number] += 1
                        return calls[number]
                    }
                    tally.note(isRight: times == 1)
                    if times == 1 { areAnswered.leave() }
                }
                if call.isMultiple(of: 3) { retrieval.cancel() }
            }
        }
        await withCheckedContinuation { continuation in
            areAnswered.notify(queue: .global()) { continuation.resume() }
        }
        #expect(tally.faults == 0, "of \(tally.tries)")
        #expect(calls.withLock { $0.allSatisfy { $0 == 1 } })
    }

    #if !canImport(Darwin) && !THREAD_SANITIZER
    // MARK: The copies

    private struct Text: Separable {
        var value: String
        var separated: Text { Text(value: String(decoding: value.utf8, as: UTF8.self)) }
    }

    @Test func `a value is copied for the processors after a hundred meetings, and not before`() {
        let value = ReadByMany(Text(value: "a"))
        func isCopied() -> Bool { unsafe value.stripes.load(ordering: .relaxed) != nil }
        for _ in 0..<99 { value.waitForOthers() }
        #expect(!isCopied())
        value.change(to: Text(value: "b")) {}
        for _ in 0..<99 { value.waitForOthers() }
        #expect(!isCopied(), "a change begins anew")
        value.waitForOthers()
        #expect(isCopied())
        #expect(value.read { $0.value } == "b")
        value.change(to: Text(value: "c")) {}
        #expect(value.read { $0.value } == "c")
    }

    /// A value that a thread can share.
    private final class Shared: Sendable {
        let value = ReadByMany(Text(value: "a"))
    }

    /// What `body` enqueues comes before whatever a reader of the new value does (D2).
    @Test(arguments: [0, 200])
    func `a value cannot be read while it changes, on any processor`(meetings: Int) async {
        let shared = Shared()
        for _ in 0..<meetings { shared.value.waitForOthers() }
        let hasRead = Locked(0)
        let areDone = DispatchGroup()
        shared.value.change(to: Text(value: "b")) {
            for _ in 0..<Self.threads {
                areDone.enter()
                Thread.detachNewThread {
                    let value = shared.value.read { $0.value }
                    hasRead.withLock { $0 += value == "b" ? 1 : 1_000 }
                    areDone.leave()
                }
            }
            // Gives a reader that need not wait the time to read.
            for _ in 0..<1_000 { sched_yield() }
            #expect(hasRead.withLock { $0 } == 0)
        }
        await withCheckedContinuation { continuation in
            areDone.notify(queue: .global()) { continuation.resume() }
        }
        #expect(hasRead.withLock { $0 } == Self.threads)
    }
    #endif
}
