import AccessTokenContract
import Foundation
import TestSupport
import Testing

@Suite("Limits of any size end no process", .takesTurnsToWait, .endsHangs)
struct OddLimitTests {
    static let long: [TimeInterval] = [.infinity, 1e18]
    static let short: [TimeInterval] = [0, -1e-9, -.infinity, .nan]

    private static let subject = ContractSubject("the actor") { .async(AsyncAccessTokenService(loader: $0.loader)) }

    @Test(arguments: long)
    func `a long time limit waits`(limit: TimeInterval) async throws {
        #expect(await Self.subject.report(on: "L1", timeLimit: limit).isKept)
        let loader = ControlledLoader()
        async let load = loader.started(1, timeLimit: limit)
        loader.load(replacing: nil) { _ in }
        #expect(await load?.number == 1)
    }

    @Test(arguments: short)
    func `a short time limit ends soon`(limit: TimeInterval) async throws {
        let silent = ContractSubject("silent") { _ in .retrieving { _ in } }
        let report = await silent.report(on: "L1", timeLimit: limit)
        #expect(report.brokenIDs == ["L1"])
        #expect(await ControlledLoader().started(1, timeLimit: limit) == nil)
        #expect(await ControlledLoader().started(.max, timeLimit: limit) == nil)
    }

    @Test(arguments: [0, -1, .min])
    func `there is no load before the first one`(count: Int) async {
        let loader = ControlledLoader()
        loader.load(replacing: nil) { _ in }
        #expect(await loader.started(count, timeLimit: 10) == nil)
    }
}
