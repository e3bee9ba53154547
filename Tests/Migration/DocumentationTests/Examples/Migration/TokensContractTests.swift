import AccessTokenContract
import Foundation
import SampleShared
import Testing

@testable import SampleStage2

private let tokensSubject = ContractSubject(
    "our tokens",
    features: [.signIn, .signOut, .callbackLoader],
    promises: ["O7"]
) { fixture in
    let keychain = Keychain()
    keychain.credential = Credential(refreshToken: "refresh")
    let session = Session.engine(
        exchange: { sent, handler in
            fixture.loader.load(replacing: nil) { result in
                handler(result.map { Credential(accessToken: $0.value, refreshToken: "after \(sent)") })
            }
        },
        keychain: keychain
    )
    return .retrieving { handler in
        session.tokens.retrieveToken(then: handler)
    } signIn: { token in
        keychain.credential = Credential(accessToken: token.value, refreshToken: "refresh")
        session.signIn(token)
    } signOut: {
        await AsyncServiceAdapter(of: session.tokens).signOut()
        if keychain.credential == nil { await fixture.loader.signOut() }  // O7: the store is looked into.
    }
}

@Suite("What our tokens keep of the contract")
struct TokensContractTests {
    @Test func `breaks nothing`() async {
        let report = await ServiceContract.verify(tokensSubject)
        #expect(report.isKept, "\(report)")
    }
}

extension Credential {
    nonisolated fileprivate init(accessToken: String = "", refreshToken: String) {
        self.init(accessToken: accessToken, expiresAt: .distantFuture, refreshToken: refreshToken)
    }
}
