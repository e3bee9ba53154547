import AccessTokenContract
import Foundation
import SampleShared
import Testing

@testable import SampleStage2

private let tokensSubject = ContractSubject("our tokens", features: [.signIn, .signOut, .callbackLoader]) { fixture in
    let keychain = Keychain()
    keychain.credential = Credential(accessToken: "", expiresAt: .distantPast, refreshToken: "refresh")
    let session = Session.actor(
        exchange: { sent, handler in
            fixture.loader.load(replacing: nil) { result in
                handler(
                    result.map {
                        Credential(accessToken: $0.value, expiresAt: .distantFuture, refreshToken: "after \(sent)")
                    }
                )
            }
        },
        keychain: keychain
    )
    return .retrieving { handler in
        session.tokens.retrieveToken(then: handler)
    } signIn: { token in
        session.signIn(token)
    } signOut: {
        await AsyncServiceAdapter(of: session.tokens).signOut()
        await fixture.loader.signOut()
    }
}

@Suite("What our tokens keep of the contract")
struct TokensContractTests {
    @Test func `breaks nothing`() async {
        let report = await ServiceContract.verify(tokensSubject)
        #expect(report.isKept, "\(report)")
    }
}
