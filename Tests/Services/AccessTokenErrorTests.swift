import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An error of the service's own", .takesTurns)
struct AccessTokenErrorTests {
    static let codes: [(AccessTokenError, String)] = [
        (.signedOut, "signedOut"), (.loadTimedOut, "loadTimedOut"), (.loadAbandoned, "loadAbandoned"),
        (.loadAskedItsOwnService, "loadAskedItsOwnService"), (.tokenRejected, "tokenRejected"),
        (.requestAbandoned, "requestAbandoned"),
    ]

    @Test(arguments: codes)
    func `has a code for logs`(error: AccessTokenError, code: String) {
        #expect(error.logCode == code)
    }

    @Test(arguments: codes.map(\.0))
    func `says what happened and what to do next`(error: AccessTokenError) {
        #expect(error.description.split(separator: ". ").count > 1)
    }

    @Test(arguments: codes.map(\.0))
    func `says the same where only an error is known`(error: AccessTokenError) {
        #expect("\(error as any Error)" == error.description)
    }

    @Test(arguments: codes.map(\.0))
    func `tells the people who use the app what they can do, and nothing of code`(error: AccessTokenError) {
        let shown = (error as any Error).localizedDescription
        #expect(shown.wholeMatch(of: /[A-Z][^.]+\. [A-Z][^.]+\./) != nil, "\(shown)")
        #expect(!shown.contains(/[()\[\]_]|oken|[a-z][A-Z]/), "\(shown)")
    }
}
