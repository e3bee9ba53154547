import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An error of the service's own", .eightAtATime)
struct AccessTokenErrorTests {
    static let all: [AccessTokenError] = [.signedOut, .loadTimedOut, .loadAbandoned, .loadAskedItsOwnService]

    @Test("says what happened and what to do next")
    func texts() {
        #expect(
            Self.all.map(\.description) == [
                "No token: nobody is signed in. Sign in, then give the service the new session's token with signIn(_:).",
                """
                No token: the loader did not answer within the policy's loadDeadline. The next call loads again; \
                an answer that still comes late is kept. If this repeats, look at the loader's own time-outs, and whether its \
                load(replacing:then:) returns.
                """,
                """
                No token: the callback that should have brought it was released without having been called. \
                Look for a path in the loader or service that returns without calling it, [weak self] above all.
                """,
                """
                No token: the loader asked the service that is waiting for this very load, which could never end. \
                Give the loader's own requests another session, without this service.
                """,
            ]
        )
    }

    @Test("says the same where only an error is known", arguments: all)
    func localizedText(error: AccessTokenError) {
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

    @Test("differs from every other one")
    func allDiffer() {
        #expect(Set(Self.all).count == Self.all.count)
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
