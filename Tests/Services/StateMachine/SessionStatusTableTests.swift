import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

/// One test for each thing that changes the status of a session, or must not.
@Suite("The status of a session", .takesTurns)
struct SessionStatusTableTests {
    private let old = Story().token("old")
    private let new = Story().token("new")

    /// What a loader says when the server has ended the session.
    private struct Ended: LoginNeedingError {
        var needsLogin = true
    }

    /// A session whose only load has failed so.
    private func story(afterALoadThatFailsWith error: any Error, token: AccessToken? = nil) -> Story {
        var story = Story(token: token)
        story.calls("Ann")
        story.load(1, failsWith: error)
        return story
    }

    // MARK: Tokens

    @Test func `is unknown until anybody has said whether there is one`() {
        #expect(Story().status == .unknown)
        #expect(story(afterALoadThatFailsWith: LoadFailure(load: 1)).status == .unknown)
    }

    @Test func `is signed in with a valid token, and expired when the token has expired`() {
        var story = Story(token: old)
        #expect(story.status == .signedIn)
        story.time(passes: 3_600)
        #expect(story.status == .expired)
    }

    @Test func `is expired after a rejection, and signed in after the next load`() {
        var story = Story(token: old)
        story.server(rejects: old)
        #expect(story.status == .expired)
        story.calls("Ann")
        #expect(story.status == .expired)
        story.load(1, brings: new)
        #expect(story.status == .signedIn)
    }

    @Test func `is expired as long as loads fail for another reason than the session`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.load(1, failsWith: Ended(needsLogin: false))
        #expect(story.status == .expired)
        #expect(!story.events.contains(.loginNeeded))
    }

    // MARK: Sign-in and sign-out

    @Test func `is signed out after a sign-out, and expired after a sign-in without a token`() {
        var story = Story(token: old)
        story.userSignsOut()
        #expect(story.status == .signedOut)
        #expect(!story.events.contains(.loginNeeded))
        story.user(signsInWith: nil)
        #expect(story.status == .expired)
    }

    @Test func `needs a login no more after a sign-in`() {
        var story = story(afterALoadThatFailsWith: Ended())
        story.user(signsInWith: new)
        #expect(story.status == .signedIn)
    }

    // MARK: The end of a session

    @Test func `needs a login when a load says so, and that is an event, once`() {
        var story = story(afterALoadThatFailsWith: Ended())
        #expect(story.status == .needsLogin)
        // The loader has removed what the server refused.
        story.calls("Bob")
        story.load(2, failsWith: AccessTokenError.signedOut)
        #expect(story.status == .needsLogin)
        #expect(story.events.filter { $0 == .loginNeeded }.count == 1)
    }

    @Test func `is signed out when a load finds nothing stored, and that is an event, once`() {
        var story = story(afterALoadThatFailsWith: AccessTokenError.signedOut)
        #expect(story.status == .signedOut)
        story.calls("Bob")
        story.load(2, failsWith: AccessTokenError.signedOut)
        #expect(story.events.filter { $0 == .loginNeeded }.count == 1)
    }

    @Test func `needs a login although the token is still valid when the load ahead says so`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 600))
        story.time(passes: 3_200)
        story.calls("Ann")
        story.load(1, failsWith: Ended())
        #expect(story.token(of: "Ann") == old)
        #expect(story.status == .needsLogin)
    }

    @Test func `needs a login no more when a load brings a token, and the next end is an event again`() {
        var story = story(afterALoadThatFailsWith: Ended())
        story.calls("Bob")
        story.load(2, brings: old)
        #expect(story.status == .signedIn)
        story.server(rejects: old)
        story.calls("Cid")
        story.load(3, failsWith: Ended())
        #expect(story.events.filter { $0 == .loginNeeded }.count == 2)
    }

    @Test func `is told by the late answer of a load, unless a newer load has brought a token`() {
        var story = Story()
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        story.load(1, failsWith: Ended())
        #expect(story.status == .needsLogin)
        var other = Story()
        other.calls("Ann")
        other.load(passesItsDeadline: 1)
        other.calls("Bob")
        other.load(2, brings: new)
        other.load(1, failsWith: Ended())
        #expect(other.status == .signedIn)
    }

    @Test func `is not told by a load of a former session`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: new)
        story.load(1, failsWith: Ended())
        #expect(story.status == .signedIn)
        #expect(!story.events.contains(.loginNeeded))
    }

    @Test func `is not told by a load beside which an older one has brought a token`() {
        var story = Story()
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        story.calls("Bob")
        story.load(1, brings: new)
        // The late answer has used up the refresh token.
        story.load(2, failsWith: Ended())
        #expect(story.token(of: "Bob") == new)
        #expect(story.status == .signedIn)
    }

    // MARK: Looks

    @Test func `is signed out when a look finds nothing, and the token is not handed out any more`() {
        var story = Story(token: old)
        story.app(finds: nil)
        #expect(story.status == .signedOut)
        #expect(story.events.last == .loginNeeded)
        story.calls("Ann")
        #expect(story.replacing == [old])
    }

    @Test func `is signed out when looks find nothing during the first load, which may be the login`() {
        var story = Story()
        story.calls("Ann")
        for _ in 1...2 { story.app(finds: nil) }
        #expect(story.status == .signedOut)
        story.load(1, brings: new)
        #expect(story.token(of: "Ann") == new)
        #expect(story.status == .signedIn)
    }

    @Test func `needs a login, and a look that finds nothing does not spoil the load that logs in`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.load(1, failsWith: Ended())
        story.calls("Bob")
        story.app(finds: nil)
        story.load(2, brings: new)
        #expect(story.token(of: "Bob") == new)
        #expect(story.status == .signedIn)
    }

    @Test func `is signed out when a look finds nothing any more, and a running load brings no token of it`() {
        var story = Story()
        story.app(finds: StoredSession())
        story.calls("Ann")
        story.app(finds: nil)
        story.load(1, brings: old)
        #expect(story.waits("Ann"))
        #expect(story.replacing == [nil, old])
    }

    @Test func `is that of the stored token before any load`() {
        var story = Story()
        story.app(finds: StoredSession(token: old))
        #expect(story.status == .signedIn)
        story.time(passes: 3_600)
        #expect(story.status == .expired)
        var other = Story()
        other.app(finds: StoredSession())
        #expect(other.status == .expired)
    }

    @Test func `is expired when the stored token is the one that was rejected`() {
        var story = Story()
        story.app(finds: StoredSession(token: old))
        story.server(rejects: old)
        #expect(story.status == .expired)
        var other = Story(token: old)
        other.server(rejects: old)
        other.app(finds: StoredSession(token: old))
        #expect(other.status == .expired)
    }

    @Test func `needs a login when a look says so, and no more when another token is stored`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(token: old, needsLogin: true))
        #expect(story.status == .needsLogin)
        story.app(finds: StoredSession(token: old))
        #expect(story.status == .needsLogin)
        story.app(finds: StoredSession(token: new))
        #expect(story.status == .signedIn)
    }

    @Test func `is expired when a session is stored where a look found none`() {
        var story = Story()
        story.app(finds: nil)
        story.app(finds: StoredSession())
        #expect(story.status == .expired)
        // The loader has removed what the server refused.
        var other = self.story(afterALoadThatFailsWith: Ended())
        other.app(finds: nil)
        other.app(finds: StoredSession())
        #expect(other.status == .expired)
    }

    @Test func `is expired when another token is stored that has expired`() {
        var story = Story()
        story.app(finds: StoredSession(token: old, needsLogin: true))
        story.time(passes: 3_600)
        story.app(finds: StoredSession(token: new))
        #expect(story.status == .expired)
    }

    @Test(arguments: [Ended(), AccessTokenError.signedOut] as [any Error])
    func `stays as a load has found it, whatever the store has kept`(_ error: any Error) {
        let kept = StoredSession(token: Story().token("kept", lasting: -1))
        for stored in [StoredSession(), kept] {
            // A load that was asked before any look, and one that was asked after a look.
            var story = story(afterALoadThatFailsWith: error)
            let status = story.status
            for _ in 1...2 { story.app(finds: stored) }
            #expect(story.status == status)
            var other = Story()
            other.app(finds: stored)
            other.calls("Ann")
            other.load(1, failsWith: error)
            other.app(finds: stored)
            #expect(other.status == status)
        }
    }

    @Test func `needs a login when a load says so later than a look found nothing`() {
        var story = Story()
        story.app(finds: nil)
        story.calls("Ann")
        story.load(1, failsWith: Ended())
        story.app(finds: StoredSession())
        #expect(story.status == .needsLogin)
        var other = Story()
        other.app(finds: nil)
        other.calls("Ann")
        other.load(1, brings: old)
        other.server(rejects: old)
        other.calls("Bob")
        other.load(2, failsWith: Ended())
        other.app(finds: StoredSession())
        #expect(other.status == .needsLogin)
    }

    @Test func `changes the user, whose token is not that of the one before`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(token: old, subject: "Ann"))
        #expect(story.subject == "Ann")
        story.app(finds: StoredSession(token: new, subject: "Ann"))
        story.calls("a view")
        #expect(story.token(of: "a view") == old)
        story.app(finds: StoredSession(token: new, subject: "Bob"))
        #expect(story.subject == "Bob")
        #expect(story.status == .signedIn)
        story.calls("another view")
        #expect(story.replacing == [old])
    }

    @Test func `changes the user, and the token stays that the service already has of the new one`() {
        var story = Story(token: new)
        story.app(finds: StoredSession(token: old, subject: "Ann"))
        story.app(finds: StoredSession(token: new, subject: "Bob"))
        story.calls("a view")
        #expect(story.token(of: "a view") == new)
    }

    /// Another user was signed in between two looks, and a load has brought that user's token.
    @Test func `has the user of the last look again, and no token that came between the looks`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(token: old, subject: "Ann"))
        story.server(rejects: old)
        story.calls("a view")
        story.load(1, brings: story.token("Bob's"))
        story.app(finds: StoredSession(token: new, subject: "Ann"))
        story.calls("another view")
        #expect(story.replacing == [old, story.token("Bob's")])
        story.load(2, brings: new)
        #expect(story.token(of: "another view") == new)
    }

    @Test func `has the same user when a load has renewed the session, and another process renews it again`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(token: old, subject: "Ann"))
        story.server(rejects: old)
        story.calls("a view")
        story.load(1, brings: new)
        story.app(finds: StoredSession(token: new, subject: "Ann"))
        story.app(finds: StoredSession(token: story.token("newer"), subject: "Ann"))
        story.calls("another view")
        #expect(story.token(of: "another view") == new)
    }

    @Test func `has the same user when a load brings the token that a look has found`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.app(finds: StoredSession(token: new, subject: "Ann"))
        story.calls("a view")
        story.load(1, brings: new)
        story.app(finds: StoredSession(token: story.token("newer"), subject: "Ann"))
        story.calls("another view")
        #expect(story.token(of: "another view") == new)
    }

    /// A loader may exchange what is stored for other tokens: each look would have one more loaded.
    @Test func `has the same user when loads bring tokens that are not the stored ones`() {
        var story = Story()
        for _ in 1...3 {
            story.app(finds: StoredSession(token: old, subject: "Ann"))
            story.calls("a view")
            if story.waits("a view") { story.load(1, brings: new) }
        }
        #expect(story.loads.count == 1)
    }

    @Test func `has no user of the session before`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(token: old, subject: "Ann"))
        story.user(signsInWith: new)
        #expect(story.subject == nil)
    }

    @Test func `is not told by a look that began before a sign-in`() {
        var story = Story(token: old)
        let changes = story.changes
        story.user(signsInWith: new)
        story.app(finds: nil, since: changes)
        #expect(story.status == .signedIn)
        story.calls("Ann")
        #expect(story.token(of: "Ann") == new)
    }

    @Test func `is told by a look during which callers come and go`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        let changes = story.changes
        story.calls("Bob")
        story.gives(up: "Bob")
        story.app(finds: StoredSession(token: new, subject: "Ann"), since: changes)
        #expect(story.subject == "Ann")
    }

    @Test func `is told by a look during which an older token is rejected`() {
        var story = Story(token: new)
        let changes = story.changes
        story.server(rejects: old)
        story.app(finds: StoredSession(token: new, subject: "Ann"), since: changes)
        #expect(story.subject == "Ann")
    }

    @Test(
        arguments: [
            nil,
            StoredSession(),
            StoredSession(token: Story().token("old"), subject: "Ann"),
            StoredSession(token: Story().token("new"), subject: "Ann"),
            StoredSession(token: Story().token("old"), needsLogin: true),
        ] as [StoredSession?]
    )
    func `has not changed when a second look finds the same`(_ stored: StoredSession?) {
        var story = Story(token: old)
        story.app(finds: stored)
        let changes = story.changes
        story.app(finds: stored)
        #expect(story.changes == changes)
    }

    @Test func `has changed when another user's name only looks the same`() {
        var story = Story(token: old)
        story.app(finds: StoredSession(subject: "Jos\u{e9}"))
        story.app(finds: StoredSession(subject: "Jose\u{301}"))
        #expect(story.subject?.unicodeScalars.count == 5)
    }

    @Test func `stays signed out whatever a look finds`() {
        var story = Story(token: old)
        story.userSignsOut()
        story.app(finds: StoredSession(token: new))
        #expect(story.status == .signedOut)
    }
}
