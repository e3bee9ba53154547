import AccessTokenCore
import TestSupport
import Testing

/// One test for each row of the tables of what a load brings in time.
///
/// ``EverySequenceTests`` proves the rows in all sequences.
@Suite("The token that a load brings", .takesTurns)
struct LoadTableTests {
    let old = Story().token("old")
    let new = Story().token("new")

    @Test func `is handed out if it is valid`() {
        var story = Story()
        story.calls("Ann")
        story.load(1, brings: new)
        #expect(story.token(of: "Ann") == new)
    }

    @Test func `is cached if it is valid`() {
        var story = Story()
        story.calls("Ann")
        story.load(1, brings: new)
        story.calls("Bob")
        #expect(story.token(of: "Bob") == new)
        #expect(story.loads.count == 1)
    }

    @Test func `is ignored if it has expired and a valid one is left (C8)`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann")
        story.load(1, brings: story.token("expired", lasting: -1))
        story.calls("Bob")
        #expect(story.token(of: "Bob") == old)
    }

    @Test func `satisfies nobody if it was rejected during the load: one more load is told of it (I9)`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann")
        story.server(rejects: old)
        story.calls("Bob")
        story.load(1, brings: old)
        #expect(story.waits("Bob"))
        #expect(story.replacing == [old, old])
        story.load(2, brings: new)
        #expect(story.token(of: "Bob") == new)
    }

    @Test func `satisfies nobody either if it had expired by then, during a load ahead (I9)`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann")
        story.time(passes: 300)
        story.calls("Bob")
        story.server(rejects: old)
        story.load(1, brings: old)
        #expect(story.waits("Bob"))
        #expect(story.replacing == [old, old])
        story.load(2, brings: old)
        #expect(story.token(of: "Bob") == old)
        #expect(story.loads.count == 2)
    }

    @Test func `is handed out if the one more load brings it again: there is no storm (I9)`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann")
        story.server(rejects: old)
        story.calls("Bob")
        story.load(1, brings: old)
        // A rejection of what the load was told to replace says nothing new.
        story.server(rejects: old)
        story.load(2, brings: old)
        #expect(story.token(of: "Bob") == old)
        #expect(story.loads.count == 2)
    }

    @Test func `is remembered as rejected if nobody waits, for the next load (I9)`() {
        var story = Story(token: old, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann")
        story.server(rejects: old)
        story.load(1, brings: old)
        #expect(story.loads.count == 1)
        story.calls("Bob")
        #expect(story.replacing == [old, old])
    }

    /// A session whose first load, which Ann started, brings a token that has expired.
    private func loadOfExpiredToken() -> Story {
        var story = Story()
        story.calls("Ann")
        story.load(1, brings: expired)
        return story
    }

    private var expired: AccessToken { Story().token("expired", lasting: -1) }

    @Test func `is handed out if it has expired and no valid one is left`() {
        #expect(loadOfExpiredToken().token(of: "Ann") == expired)
    }

    @Test func `is cached for a moment if it has expired and no valid one is left`() {
        var story = loadOfExpiredToken()
        story.calls("Bob")
        #expect(story.token(of: "Bob") == expired)
    }

    @Test func `is replaced after that moment if it had expired`() {
        var story = loadOfExpiredToken()
        story.time(passes: 10)
        story.calls("Bob")
        #expect(story.replacing == [nil, expired])
    }
}
