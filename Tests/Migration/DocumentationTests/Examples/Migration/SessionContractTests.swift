import AccessTokenContract
import Foundation
import SampleShared
import Testing

let legacySubject = ContractSubject("our session", features: [.callbackLoader, .signIn, .signOut]) { fixture in
    let session = LegacySession { handler in
        fixture.loader.load(replacing: nil) { result in
            handler(result.map { LegacyToken(value: $0.value, expiresAt: .distantFuture) })
        }
    }
    return .retrieving { handler in
        session.retrieveToken { result in
            handler(result.map { AccessToken(value: $0.value) })
        }
    } signIn: { token in
        session.signIn(LegacyToken(value: token.value, expiresAt: .distantFuture))
    } signOut: {
        session.signOut()
    }
}

@Suite("What our session keeps of the contract")
struct SessionContractTests {
    @Test func `breaks what it always broke, and nothing else`() async {
        let report = await ServiceContract.verify(legacySubject)
        #expect(report.brokenIDs == ["O1", "O2", "O3", "O4", "D6", "D7"], "\(report)")
    }
}

@Suite("What a script found in our session")
struct FoundScriptTests {
    @Test func `a sign-out in a handler ends the session`() async {
        let script: Script = [.call(then: .signOut), .answer(.token), .call]
        let violation = await script.play(on: legacySubject)
        #expect(violation?.clause.id == "O3", "\(violation.map { "\($0)" } ?? "kept")")
    }
}
