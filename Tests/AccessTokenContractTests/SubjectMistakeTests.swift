import AccessTokenContract
import Testing

@Suite("A subject that is put together wrongly is told so")
struct SubjectMistakeTests {
    @Test func `if it declares what its service was made without, and no clause is run on it`() async throws {
        let subject = ContractSubject("half a subject", features: [.signIn, .currentToken, .asyncLoader]) { fixture in
            .async(AsyncAccessTokenService(loader: fixture.loader))
        }
        let report = await AccessTokenContract.verify(subject)
        #expect(report.violations.map(\.clause.id).contains("O2"))
        #expect(report.violations.allSatisfy { $0.trace == [] })
        let expected =
            "the ContractService of the subject to be made with signIn:, currentToken: as its features declare"
        #expect(Set(report.violations.map(\.expected)) == [expected])
    }

    @Test func `if its loader is not told what it replaces`() async throws {
        let subject = ContractSubject("forgetful", features: [.invalidation, .callbackLoader]) { fixture in
            .callback(AccessTokenService(loader: Forgetful(loader: fixture.loader), clock: fixture.clock))
        }
        let report = await AccessTokenContract.verify(subject)
        let violation = try #require(report.violations.first { $0.clause.id == "I1" })
        #expect(violation.expected == "load 2 to be told that it replaces T1")
        #expect(violation.observed == "load(replacing: nil)")
    }

    @Test func `and errors of this package stand in reports by their names`() async throws {
        let subject = ContractSubject("deaf", features: [.callbackLoader, .signOut]) { fixture in
            let service = AccessTokenService(loader: fixture.loader, clock: fixture.clock)
            return .retrieving {
                service.retrieveToken(then: $0)
            } signOut: {
            }
        }
        let report = await AccessTokenContract.verify(subject, patience: .milliseconds(300))
        let violation = try #require(report.violations.first { $0.clause.id == "O1" })
        #expect(violation.expected == "caller 1 to get AccessTokenError.signedOut")
    }
}

private struct Forgetful: AccessTokenLoader {
    let loader: any AccessTokenLoader

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        loader.load(replacing: nil, then: handler)
    }
}
