import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An error of the service's own", .eightAtATime)
struct AccessTokenErrorTests {
    static let all: [AccessTokenError] = [.signedOut, .loadTimedOut, .loadAbandoned, .loadAskedItsOwnService]

    @Test("says what happened and what to do next, also where only an error is known", arguments: all)
    func texts(error: AccessTokenError) {
        #expect(error.description.hasPrefix("No token: "))
        #expect(error.description.split(separator: ". ").count > 1)
        #expect((error as any Error).localizedDescription == error.description)
        #expect("\(error as any Error)" == error.description)
    }

    @Test("has its name as the code that logs show")
    func codes() {
        let all = Self.all + [.tokenRejected, .requestAbandoned]
        #expect(
            all.map(\.logCode) == [
                "signedOut", "loadTimedOut", "loadAbandoned", "loadAskedItsOwnService", "tokenRejected",
                "requestAbandoned",
            ]
        )
    }

    @Test("is caught by its name")
    func caughtByName() {
        func caught(_ error: any Error) -> String {
            do { throw error } catch AccessTokenError.signedOut {
                return "signed out"
            } catch AccessTokenError.loadTimedOut {
                return "timed out"
            } catch { return "other" }
        }
        #expect(caught(AccessTokenError.signedOut) == "signed out")
        #expect(caught(AccessTokenError.loadTimedOut) == "timed out")
        #expect(caught(AccessTokenError.loadAbandoned) == "other")
        #expect(caught(CancellationError()) == "other")
    }
}
