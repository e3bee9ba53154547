import AccessTokenContract
import Foundation

let legacySubject = ContractSubject("our session", features: .callbackLoader) { fixture in
    let session = LegacySession { handler in
        fixture.loader.load(replacing: nil) { result in
            handler(result.map { LegacyToken(value: $0.value, expiresAt: .distantFuture) })
        }
    }
    return .retrieving { handler in
        session.retrieveToken { result in
            handler(result.map { AccessToken(value: $0.value) })
        }
    }
}
