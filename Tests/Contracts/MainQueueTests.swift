import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("What a subject does on the main queue", .takesTurnsToWait, .endsHangs)
struct MainQueueTests {
    @Test func `is waited for, though a caller's load is started there long after its call`() async {
        let subject = ContractSubject("loads on the main queue") { fixture in
            let pending = Pending()
            return .retrieving { handler in
                pending.handlers.withLock { $0.append(handler) }
                DispatchQueue.main.async {
                    // The main queue is busy, as while views are drawn: the suite must not take that for rest.
                    let turn = DispatchSemaphore(value: 0)
                    for _ in 0..<200 {
                        DispatchQueue.global().async { turn.signal() }
                        turn.wait()
                    }
                    fixture.loader.load(replacing: nil) { pending.answer($0) }
                }
            }
        }
        for _ in 1...runs {
            let report = await subject.report(on: "L1", "S1", "S2")
            #expect(report.brokenIDs == ["S1", "S2"], "\(report)")
        }
    }

    @Test func `may be to make the service`() async {
        let subject = ContractSubject("is made on the main actor") { fixture in
            let service = await MainActor.run {
                dispatchPrecondition(condition: .onQueue(.main))
                return AsyncAccessTokenService(loader: fixture.loader)
            }
            return .async(service)
        }
        let report = await subject.report()
        #expect(report.isKept, "\(report)")
    }
}

/// Callers that all get the answer of the first load that ends.
private final class Pending: Sendable {
    let handlers = Locked<[AccessTokenHandler]>([])

    func answer(_ result: Result<AccessToken, any Error>) {
        let handlers = handlers.withLock { handlers in
            defer { handlers = [] }
            return handlers
        }
        for handler in handlers { handler(result) }
    }
}
