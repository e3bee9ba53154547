import AccessTokenCore
import TestSupport
import Testing

/// One test for each row of the table of a session's states.
///
/// ``EverySequenceTests`` proves the rows in all sequences.
@Suite("A session", .eightAtATime)
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
        story.load(1, failsWith: LoadFailure(load: 1))
        #expect(story.error(of: "Ann") is LoadFailure)
        #expect(story.error(of: "Bob") is LoadFailure)
        story.calls("Cid")
        #expect(story.replacing == [nil, nil], "no error is remembered")
    }

    @Test func `with a current token gives it to callers while it is valid, and then starts a load`() {
        var story = Story(token: old)
        story.calls("Ann")
        #expect(story.token(of: "Ann") == old)
        story.time(passes: 3_600)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.replacing == [old])
    }

    @Test func `with a load ahead of the expiration gives callers the current token, and then lets them wait`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_500)
        story.calls("Ann")
        #expect(story.token(of: "Ann") == old)
        #expect(story.replacing == [old])
        story.time(passes: 100)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.loads.count == 1)
        story.load(1, brings: story.token("new"))
        #expect(story.token(of: "Bob")?.value == "new")
    }

    @Test func `with an outdated token starts a load that is told the token`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        #expect(story.waits("Ann"))
        #expect(story.replacing == [old])
    }

    @Test func `with an outdated token lets callers wait for the load, and keeps the token if the load fails`() {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        story.calls("Bob")
        #expect(story.waits("Bob"))
        story.load(1, failsWith: LoadFailure(load: 1))
        story.calls("Cid")
        #expect(story.replacing == [old, old])
        story.load(2, brings: new)
        #expect(story.token(of: "Cid") == new)
    }

    // MARK: Its end

    @Test func `ends by a sign-out, which answers all who wait`() {
        var story = Story()
        story.calls("Ann")
        story.userSignsOut()
        story.calls("Bob")
        for caller in ["Ann", "Bob"] {
            #expect(story.error(of: caller).map { AccessTokenError.signedOut ~= $0 } == true)
        }
        story.user(signsInWith: nil)
        story.load(1, brings: new)
        story.calls("Cid")
        #expect(story.waits("Cid"), "a late answer does not reach the next session (O2)")
        #expect(story.replacing == [nil, nil])
    }

    @Test func `ends by a sign-in, whose token answers all who wait`() {
        var story = Story()
        story.calls("Ann")
        story.user(signsInWith: new)
        #expect(story.token(of: "Ann") == new)
        story.load(1, brings: old)
        story.calls("Bob")
        #expect(story.token(of: "Bob") == new)
    }

    @Test(arguments: ["answers", "passes its deadline"])
    func `that follows another one holds its load until the other one's load`(_ end: String) {
        var story = Story(token: old)
        story.server(rejects: old)
        story.calls("Ann")
        let expired = story.token("expired", lasting: -1)
        story.user(signsInWith: expired)
        story.calls("Bob")
        #expect(story.waits("Ann"))
        #expect(story.waits("Bob"))
        #expect(story.loads.count == 1, "two loads at once would send one refresh token twice (O9)")
        if end == "answers" { story.load(1, brings: old) } else { story.load(passesItsDeadline: 1) }
        #expect(story.replacing == [old, expired])
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
}
