import AccessTokenCore
import TestSupport
import Testing

/// One test for each row of the table of late answers.
///
/// ``EverySequenceTests`` proves the rows in all sequences.
@Suite("A late answer", .eightAtATime)
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

    @Test(arguments: ["a sign-out", "a sign-in", "both"])
    func `is ignored after the end of its session (O1, O2)`(_ end: String) {
        var story = silentLoad()
        if end != "a sign-in" { story.userSignsOut() }
        if end != "a sign-out" { story.user(signsInWith: nil) }
        story.load(1, brings: late)
        if end == "a sign-out" {
            story.calls("Bob")
            #expect(story.error(of: "Bob").map { AccessTokenError.signedOut ~= $0 } == true)
            story.user(signsInWith: nil)
        }
        story.calls("Cid")
        #expect(story.waits("Cid"))
        #expect(story.replacing == [nil, nil], "not the late one either")
    }

    @Test(arguments: ["an error", "expired", "rejected", "to be replaced"])
    func `is ignored if it is worth nothing`(_ answer: String) {
        var story = silentLoad(token: Story().token("old"))
        switch answer {
        case "an error": story.load(1, failsWith: LoadFailure(load: 1))
        case "expired": story.load(1, brings: story.token("expired", lasting: -1))
        case "rejected":
            story.server(rejects: late)
            story.load(1, brings: late)
        default: story.load(1, brings: story.token("old"))
        }
        story.calls("Bob")
        #expect(story.waits("Bob"))
        #expect(story.replacing == [Story().token("old"), Story().token("old")], "what came is not replaced")
    }

    @Test func `is ignored if a newer load has brought a token, also one that was rejected since (S3)`() {
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

    @Test func `is kept aside while a load is running, and used if that load fails (T2)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        #expect(story.waits("Bob"))
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

    @Test func `that was kept aside is not used if it is rejected meanwhile (I9)`() {
        var story = silentLoad()
        story.calls("Bob")
        story.load(1, brings: late)
        story.server(rejects: late)
        story.load(2, failsWith: LoadFailure(load: 1))
        #expect(story.error(of: "Bob") is LoadFailure)
        story.calls("Cid")
        #expect(story.replacing == [nil, nil, late], "the next load is told of it")
    }
}
