import Foundation
import SampleShared
import Testing

@Suite("The sample's keychain, asked to replace the credential that was sent")
struct KeychainTests {
    let keychain = Keychain()
    let sent = Self.credential("sent")
    let received = Self.credential("received")

    @Test func `stores the one that came for it`() {
        keychain.credential = sent
        keychain.replace(sent, with: received)
        #expect(keychain.credential == received)
    }

    @Test func `removes it when the server has ended its session`() {
        keychain.credential = sent
        keychain.replace(sent, with: nil)
        #expect(keychain.credential == nil)
    }

    @Test(arguments: [Self.credential("received"), nil])
    func `keeps that of another sign-in`(against new: Credential?) {
        keychain.credential = Self.credential("another")
        keychain.replace(sent, with: new)
        #expect(keychain.credential == Self.credential("another"))
    }

    @Test func `stays empty after a sign-out`() {
        keychain.replace(sent, with: received)
        #expect(keychain.credential == nil)
    }

    private static func credential(_ name: String) -> Credential {
        Credential(accessToken: name, expiresAt: .distantFuture, refreshToken: name)
    }
}
