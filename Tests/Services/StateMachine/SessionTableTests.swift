import AccessTokenCore
import TestSupport
import Testing

/// One test for each row of the table of a session's states.
///
/// ``EverySequenceTests`` proves the rows in all sequences.
@Suite("A session", .takesTurns)
struct SessionTableTests {
    let old = Story().token("old")
    let new = Story().token("new")

    @Test func `without a token and a load starts a load for a caller`() {
        var story = Story()
        story.calls("Ann")
        #expect(story.waits("Ann"))
        #expect(story.replacing == [nil])
        story.load(1, brings: new)
        #expect(story.token(of: "Ann") == new)
    }

    @Test func `without a token lets callers wait for the load that is running`() {
        var story = Story()
        story.calls("Ann")
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.loads.count == 1)
    }

    @Test func `without a token gives all who wait the error of the load`() {
        var story = Story()
        story.calls("Ann")
        story.calls("Bob")
        story.load(1, failsWith: LoadFailure(load: 1))
        #expect(story.error(of: "Ann") is LoadFailure)
        #expect(story.error(of: "Bob") is LoadFailure)
    }

    @Test func `without a token remembers no error: the next caller starts a load`() {
        var story = Story()
        story.calls("Ann")
        story.load(1, failsWith: LoadFailure(load: 1))
        story.calls("Bob")
        #expect(story.replacing == [nil, nil])
    }

    @Test func `with a current token gives it to callers while it is valid`() {
        var story = Story(token: old)
        story.calls("Ann")
        #expect(story.token(of: "Ann") == old)
        #expect(story.loads.isEmpty)
    }

    @Test func `with a token that has expired starts a load that is told the token`() {
        var story = Story(token: old)
        story.time(passes: 3_600)
        story.calls("Ann")
        #expect(story.waits("Ann"))
        #expect(story.replacing == [old])
    }

    /// A session whose load was started ahead of the expiration, by Ann.
    private func loadAhead() -> Story {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_500)
        story.calls("Ann")
        return story
    }

    @Test func `with a load ahead of the expiration gives callers the current token`() {
        let story = loadAhead()
        #expect(story.token(of: "Ann") == old)
        #expect(story.replacing == [old])
    }

    @Test func `with a load ahead lets callers wait for it when the token has expired`() {
        var story = loadAhead()
        story.time(passes: 100)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.loads.count == 1)
        story.load(1, brings: new)
        #expect(story.token(of: "Bob") == new)
    }

    @Test func `with an outdated token starts a load that is told the token`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        #expect(story.waits("Ann"))
        #expect(story.replacing == [old])
    }

    @Test func `with an outdated token lets callers wait for the load`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.calls("Bob")
        #expect(story.waits("Bob"))
        story.load(1, brings: new)
        #expect(story.token(of: "Bob") == new)
    }

    @Test func `with an outdated token keeps it if the load fails, for the next load to be told of`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.load(1, failsWith: LoadFailure(load: 1))
        story.calls("Bob")
        #expect(story.replacing == [old, old])
    }

    // MARK: Its end

    @Test func `ends by a sign-out, which answers all who wait`() {
        var story = Story()
        story.calls("Ann")
        story.userSignsOut()
        #expect(story.error(of: "Ann").map { AccessTokenError.signedOut ~= $0 } == true)
    }

    @Test func `that has ended refuses callers`() {
        var story = Story()
        story.userSignsOut()
        story.calls("Ann")
        #expect(story.error(of: "Ann").map { AccessTokenError.signedOut ~= $0 } == true)
    }

    @Test func `that follows a sign-out is not reached by the answer of the former one's load (O2)`() {
        var story = Story()
        story.calls("Ann")
        story.userSignsOut()
        story.user(signsInWith: nil)
        story.load(1, brings: new)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.replacing == [nil, nil])
    }

    @Test func `ends by a sign-in, whose token answers all who wait`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: new)
        #expect(story.token(of: "Ann") == new)
    }

    @Test func `that a sign-in began with a token is not reached by the answer of the former one's load (O2)`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: new)
        story.load(1, brings: old)
        story.calls("Bob")
        #expect(story.token(of: "Bob") == new)
    }

    /// A session that began with an expired token while the load of the former one, which Ann started, is running.
    private func followingSession() -> Story {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.user(signsInWith: expired)
        return story
    }

    private var expired: AccessToken { Story().token("expired", lasting: -1) }

    @Test func `that follows another one holds its load while the other one's load is running (O9)`() {
        var story = followingSession()
        story.calls("Bob")
        #expect(story.waits("Ann"))
        #expect(story.waits("Bob"))
        #expect(story.loads.count == 1, "two loads at once would send one refresh token twice")
    }

    @Test func `that follows another one starts its load when the other one's load has ended`() {
        var story = followingSession()
        story.load(1, brings: old)
        #expect(story.replacing == [old, expired])
    }

    @Test func `that follows another one starts its load when the other one's load is past its deadline`() {
        var story = followingSession()
        story.load(passesItsDeadline: 1)
        #expect(story.replacing == [old, expired])
    }

    @Test func `that follows another one answers the callers of both by its own load`() {
        var story = followingSession()
        story.calls("Bob")
        story.load(1, brings: old)
        story.load(2, brings: new)
        #expect(story.token(of: "Ann") == new)
        #expect(story.token(of: "Bob") == new)
    }

    @Test func `starts no load for callers who have given up while the load was held`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: nil)
        story.gives(up: "Ann")
        story.load(1, failsWith: LoadFailure(load: 1))
        #expect(story.loads.count == 1)
        story.calls("Bob")
        #expect(story.loads.count == 2)
    }

    @Test func `refuses the loader of the load that it is held for (R1)`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: nil)
        story.calls("the loader", inside: 1)
        #expect(story.error(of: "the loader").map { AccessTokenError.loadAskedItsOwnService ~= $0 } == true)
    }

    @Test func `begins though a load of the former one signs out, but not though a task of that load does later`() {
        var story = Story()
        story.loaderForgetsAtOnce = false
        story.calls("Ann")
        story.userSignsOut()
        let signOuts = story.signOuts
        story.userSignsOut(inside: 1)
        #expect(story.signOuts == signOuts)
        story.load(1, failsWith: LoadFailure(load: 1))
        story.userSignsOut(inside: 1)
        #expect(story.signOuts == signOuts + 1)
    }

    @Test func `that the loader has forgotten is ended by no load of it once more`() {
        var story = Story()
        story.calls("Ann")
        story.userSignsOut()
        story.load(passesItsDeadline: 1)
        let (signOuts, forgettings) = (story.signOuts, story.forgettings.count)
        // A login may have stored its credential.
        story.userSignsOut(inside: 1)
        #expect(story.signOuts == signOuts)
        #expect(story.forgettings.count == forgettings)
    }

    @Test func `that a newer load has renewed is ended by no load from before`() {
        var story = Story()
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        story.calls("Bob")
        story.load(2, brings: story.token("new"))
        let signOuts = story.signOuts
        // The refresh token that it sent has been used, and the server says so.
        story.userSignsOut(inside: 1)
        #expect(story.status == .signedIn)
        #expect(story.signOuts == signOuts && story.forgettings.isEmpty)
        story.userSignsOut(inside: 2)
        #expect(story.status == .signedOut)
    }
}
