import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An error of the service's own", .eightAtATime)
struct AccessTokenErrorTests {
    static let codes: [(AccessTokenError, String)] = [
        (.signedOut, "signedOut"), (.loadTimedOut, "loadTimedOut"), (.loadAbandoned, "loadAbandoned"),
        (.loadAskedItsOwnService, "loadAskedItsOwnService"), (.tokenRejected, "tokenRejected"),
        (.requestAbandoned, "requestAbandoned"),
    ]

    @Test("says what happened and what to do next, also where only an error is known", arguments: codes)
    func texts(error: AccessTokenError, code: String) {
        #expect(error.logCode == code)
        #expect(error.description.split(separator: ". ").count > 1)
        #expect("\(error as any Error)" == error.description)
    }

    @Test("tells the people who use the app what they can do, and nothing of code", arguments: codes)
    func textsForUsers(error: AccessTokenError, code: String) {
        let shown = (error as any Error).localizedDescription
        #expect(shown.wholeMatch(of: /[A-Z][^.]+\. [A-Z][^.]+\./) != nil, "\(shown)")
        #expect(!shown.contains(/[()\[\]_]|oken|[a-z][A-Z]/), "\(shown)")
    }
}
