import AccessTokenContract
import Foundation
import TestSupport
import Testing

@Suite("A subject that is put together wrongly is told so", .takesTurnsToWait)
struct SubjectMistakeTests {
    @Test func `if it declares what its service was made without, and no clause is run on it`() async throws {
        let subject = ContractSubject("half a subject", features: [.signIn, .currentToken]) { fixture in
            .async(AsyncAccessTokenService(loader: fixture.loader))
        }
        let report = await subject.report()
        #expect(report.brokenIDs == ["L1"])
        let violation = try #require(report.violations.first)
        #expect(violation.trace == [])
        let expected = "the ContractService of the subject to be made with signIn:, currentToken:, as its features say"
        #expect(violation.expected == expected)
    }

    @Test func `if it promises what is no convention`() async throws {
        let subject = ContractSubject("rash", promises: ["D2", "D22"]) { fixture in
            .async(AsyncAccessTokenService(loader: fixture.loader))
        }
        let report = await subject.report()
        #expect(report.violations.map(\.observed) == ["it promises D22"])
    }

    @Test func `and errors of this package stand in reports by their names`() async throws {
        let subject = ContractSubject("deaf", features: .signOut, promises: ["O5"]) { fixture in
            let service = AccessTokenService(loader: fixture.loader, clock: fixture.clock)
            return .retrieving { handler in
                service.retrieveToken { result in
                    handler(result.mapError { _ in CocoaError(.userCancelled) })
                }
            } signOut: {
                await service.signOut()
            }
        }
        let violation = try #require(await subject.report(on: "O5").violations.first)
        #expect(violation.expected == "waiter to get AccessTokenError.signedOut")
    }

    @Test func `its own errors count by what they stand for`() async throws {
        struct Wrapped: Error { let base: any Error }
        func subject(errors: @escaping @Sendable (any Error) -> any Error) -> ContractSubject {
            ContractSubject("wrapping", features: .signOut, promises: ["F3", "O5"], errors: errors) { fixture in
                let service = AccessTokenService(loader: fixture.loader, clock: fixture.clock)
                return .retrieving { handler in
                    service.retrieveToken { handler($0.mapError(Wrapped.init)) }
                } signOut: {
                    await service.signOut()
                }
            }
        }
        let named = await subject { ($0 as? Wrapped)?.base ?? $0 }.report()
        #expect(named.isKept, "\(named)")
        let unnamed = await subject { $0 }.report()
        #expect(unnamed.brokenIDs == ["F3", "O5"])
    }
}
