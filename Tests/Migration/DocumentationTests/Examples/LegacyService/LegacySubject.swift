import AccessTokenContract
import Foundation

@testable import SampleStage0

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
