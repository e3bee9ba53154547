import AccessTokenContract
import Foundation
import TestSupport
import Testing

/// An app's session manager: one load at a time by a flag, and a store that takes its time.
private actor SessionManager {
    private let loader: ControlledLoader
    private let clearsFlagFirst: Bool
    private var token: AccessToken?
    private var isLoading = false
    private var calls = 0
    private var waiting: [CheckedContinuation<AccessToken, any Error>] = []

    init(_ loader: ControlledLoader, clearsFlagFirst: Bool) {
        (self.loader, self.clearsFlagFirst) = (loader, clearsFlagFirst)
    }

    func validToken() async throws -> AccessToken {
        calls += 1
        if let token { return token }
        if isLoading { return try await withCheckedThrowingContinuation { waiting.append($0) } }
        isLoading = true
        let result: Result<AccessToken, any Error>
        do { result = .success(try await loader.load(replacing: nil)) } catch { result = .failure(error) }
        if clearsFlagFirst { isLoading = false }
        if case .success(let new) = result {
            // The store is as slow as the next caller, or as ten thousand looks for one: perhaps nobody comes.
            let callsBefore = calls
            for _ in 0..<10_000 where calls == callsBefore { await Task.yield() }
            token = new
        }
        isLoading = false
        for waiter in waiting { waiter.resume(with: result) }
        waiting = []
        return try result.get()
    }

    static func subject(clearsFlagFirst: Bool) -> ContractSubject {
        ContractSubject("a session manager", features: .asyncCallers) { fixture in
            let manager = SessionManager(fixture.loader, clearsFlagFirst: clearsFlagFirst)
            return .awaiting { try await manager.validToken() }
        }
    }
}

@Suite("While an answer is handed over", .takesTurnsToWait, .endsHangs)
struct SlowStoreTests {
    static let clause: ClauseID = "S8"

    @Test func `a flag that is cleared before the slow store has the token lets another load begin`() async {
        let report = await SessionManager.subject(clearsFlagFirst: true).report(on: "L1", "C1", "S1", "S2", "S8")
        #expect(report.brokenIDs == [Self.clause], "\(report)")
        let repaired = await SessionManager.subject(clearsFlagFirst: false).report(on: "L1", "C1", "S1", "S2", "S8")
        #expect(repaired.isKept, "\(repaired)")
    }

    @Test func `a report says below the clauses about loads what no contract sees`() async {
        let report = await SessionManager.subject(clearsFlagFirst: false).report(on: "L1", "S1", "S2", "C1")
        #expect("\(report)".contains("kept as far as the contract sees, S1, S2: one load at a time."), "\(report)")
    }
}
