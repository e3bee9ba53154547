package import AccessTokenOAuth
import Foundation

extension CredentialSeal {
    /// A stand-in for a cipher, which notices a wrong key.
    package static func adding(_ key: UInt8) -> CredentialSeal {
        struct WrongKey: Error {}
        return CredentialSeal {
            Data([key] + $0.map { $0 &+ key })
        } open: {
            guard $0.first == key else { throw WrongKey() }
            return Data($0.dropFirst().map { $0 &- key })
        }
    }
}
