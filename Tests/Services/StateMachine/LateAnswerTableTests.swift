import AccessTokenCore
import TestSupport
import Testing

/// One test for each row of the table of late answers.
///
/// ``EverySequenceTests`` proves the rows in all sequences.
@Suite("A late answer", .takesTurns)
struct LateAnswerTableTests {
    let late = Story().token("late")
    let new = Story().token("new")

    /// The first load is silent past its deadline.
    private func silentLoad(token: AccessToken? = nil) -> Story {
        var story = Story(token: token)
        if let token { story.server(rejects: token) }
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        return story
    }

    @Test func `is ignored after a sign-out (O1)`() {
        var story = silentLoad()
        story.userSignsOut()
        story.load(1, brings: late)
        story.calls("Bob")
        #expect(story.error(of: "Bob").map { AccessTokenError.signedOut ~= $0 } == true)
    }

    @Test func `is ignored after a sign-in (O2)`() {
        var story = silentLoad()
        story.user(signsInWith: nil)
        story.load(1, brings: late)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.replacing == [nil, nil], "not the late one either")
    }

    @Test func `is ignored after a sign-out that was followed by a sign-in (O2)`() {
        var story = silentLoad()
        story.userSignsOut()
        story.user(signsInWith: nil)
        story.load(1, brings: late)
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.replacing == [nil, nil], "not the late one either")
    }

    /// A session whose token was rejected, and whose load is silent past its deadline.
    private func silentLoadOfRejectedToken() -> Story { silentLoad(token: Story().token("old")) }

    /// The next caller waits for a load that is told of the old token, as the one before was.
    private func expectNextLoad(of story: Story, sourceLocation: SourceLocation = #_sourceLocation) {
        var story = story
        story.calls("Bob")
        #expect(story.waits("Bob"), sourceLocation: sourceLocation)
        let old = Story().token("old")
        #expect(story.replacing == [old, old], "what came is not replaced", sourceLocation: sourceLocation)
    }

    @Test func `is ignored if it is an error`() {
        var story = silentLoadOfRejectedToken()
        story.load(1, failsWith: LoadFailure(load: 1))
        expectNextLoad(of: story)
    }

    @Test func `is ignored if it is a token that has expired`() {
        var story = silentLoadOfRejectedToken()
        story.load(1, brings: story.token("expired", lasting: -1))
        expectNextLoad(of: story)
    }

    @Test func `is ignored if it is a token that was rejected`() {
        var story = silentLoadOfRejectedToken()
        story.server(rejects: late)
        story.load(1, brings: late)
        expectNextLoad(of: story)
    }

    @Test func `is ignored if it is the token that it was to replace`() {
        var story = silentLoadOfRejectedToken()
        story.load(1, brings: story.token("old"))
        expectNextLoad(of: story)
    }

    @Test func `is ignored if it is the token that it was to replace, and another one has come since`() {
        var story = silentLoadOfRejectedToken()
        story.calls("Bob")
        story.load(passesItsDeadline: 2)
        story.load(1, brings: new)
        story.load(2, brings: story.token("old"))
        story.calls("Cid")
        #expect(story.token(of: "Cid") == new)
    }

    @Test func `is cached if it is the token that it was to replace ahead of time, and still the current one`() {
        var story = Story(token: Story().token("old", lasting: 300), policy: AccessTokenPolicy(refreshAhead: 600))
        story.time(passes: 200)
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        // It lives longer than the service knew.
        let longer = story.token("old")
        story.load(1, brings: longer)
        story.calls("Bob")
        #expect(story.token(of: "Bob") == longer)
    }

    @Test func `is ignored if a newer load has brought a token (S3)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(2, brings: new)
        story.load(1, brings: late)
        story.calls("Cid")
        #expect(story.token(of: "Cid") == new)
    }

    @Test func `is ignored if a newer load has brought a token that was rejected since (S3)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(2, brings: new)
        story.server(rejects: new)
        story.load(1, brings: late)
        story.calls("Cid")
        #expect(story.waits("Cid"))
        #expect(story.replacing == [nil, nil, new])
    }

    @Test func `is cached if no load is running (T2)`() {
        var story = silentLoad()
        story.load(1, brings: late)
        story.calls("Bob")
        #expect(story.token(of: "Bob") == late)
    }

    @Test func `is given to nobody while a load is running (T2)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        story.calls("Cid")
        #expect(story.waits("Bob"))
        #expect(story.waits("Cid"))
    }

    @Test func `that came while a load was running is used if that load fails (T2)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        story.load(2, failsWith: LoadFailure(load: 1))
        #expect(story.token(of: "Bob") == late)
    }

    @Test func `that was kept aside is dropped if the running load brings a token (S3)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        story.load(2, brings: new)
        story.calls("Cid")
        #expect(story.token(of: "Bob") == new)
        #expect(story.token(of: "Cid") == new)
    }

    /// The first load is late with a token that is rejected, and the second one fails.
    private func rejectedWhileKeptAside() -> Story {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        story.server(rejects: late)
        story.load(2, failsWith: LoadFailure(load: 1))
        return story
    }

    @Test func `that was kept aside is not used if it is rejected meanwhile (I9)`() {
        #expect(rejectedWhileKeptAside().error(of: "Bob") is LoadFailure)
    }

    @Test func `that was kept aside and rejected is told to the next load (I9)`() {
        var story = rejectedWhileKeptAside()
        story.calls("Cid")
        #expect(story.replacing == [nil, nil, late])
    }
}
