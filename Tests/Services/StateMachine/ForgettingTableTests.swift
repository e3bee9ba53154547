import AccessTokenSynchronization
import TestSupport
import Testing

@testable import AccessTokenCore

/// What becomes of a session that a sign-out has ended, and of the loads that were running then.
@Suite("A sign-out", .takesTurns)
struct ForgettingTableTests {
    let token = Story().token("token")

    /// Names of what was done, in order.
    private final class Log: Sendable {
        private let names = Locked<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func entry(_ name: String) -> @Sendable () -> Void { { self.names.withLock { $0.append(name) } } }
    }

    private let log = Log()

    /// Two sign-outs; the loader forgets both sessions at once, in its own time.
    private func twoSignOuts() -> Story {
        var story = Story(token: token)
        story.loaderForgetsAtOnce = false
        story.userSignsOut(then: log.entry("first"))
        story.user(signsInWith: token)
        story.userSignsOut(then: log.entry("second"))
        return story
    }

    @Test func `is not done before an earlier one is`() {
        var story = twoSignOuts()
        #expect(story.forgettings.count == 2)
        story.loaderHasForgotten(2)
        #expect(log.all.isEmpty)
    }

    @Test func `that waited for an earlier one is done after it`() {
        var story = twoSignOuts()
        story.loaderHasForgotten(2)
        story.loaderHasForgotten(1)
        #expect(log.all == ["first", "second"])
    }

    @Test func `does not wait for a later one`() {
        var story = twoSignOuts()
        story.loaderHasForgotten(1)
        #expect(log.all == ["first"])
        story.loaderHasForgotten(2)
        #expect(log.all == ["first", "second"])
    }

    @Test func `is done once, though the loader answers twice`() {
        var story = twoSignOuts()
        for _ in 1...2 { story.loaderHasForgotten(1) }
        for _ in 1...2 { story.loaderHasForgotten(2) }
        #expect(log.all == ["first", "second"])
    }

    @Test func `inside a load is done at once`() {
        var story = Story()
        story.calls("Ann")
        story.userSignsOut(inside: 1, then: log.entry("done"))
        #expect(log.all == ["done"])
        #expect(story.forgettings.isEmpty, "the load could still store a credential")
    }

    @Test func `inside a load that is past its deadline is done when the loader has forgotten`() {
        var story = Story()
        story.loaderForgetsAtOnce = false
        story.calls("Ann")
        story.load(passesItsDeadline: 1)
        story.userSignsOut(inside: 1, then: log.entry("done"))
        #expect(log.all.isEmpty, "the next login's credential would be forgotten")
        story.loaderHasForgotten(1)
        #expect(log.all == ["done"])
    }

    @Test func `has the loader forget after the loads of the session`() {
        var story = Story()
        story.loaderForgetsAtOnce = false
        story.calls("Ann")
        story.userSignsOut()
        #expect(story.forgettings.isEmpty)
        story.load(1, brings: token)
        #expect(story.forgettings.count == 1)
    }

    @Test func `does not wait for a load of a later session`() {
        var story = Story()
        story.loaderForgetsAtOnce = false
        story.calls("Ann")
        story.userSignsOut()
        story.user(signsInWith: nil)
        story.calls("Bob")
        story.userSignsOut()
        story.load(1, brings: token)
        #expect(story.forgettings.count == 1, "only the second session has a load that could store a credential")
        story.load(2, brings: token)
        #expect(story.forgettings.count == 2)
    }

    // MARK: Loads

    @Test func `leaves nothing of a load that was never begun`() {
        var story = Story()
        story.loaderIsBusy = true
        for name in ["Ann", "Bob", "Cid"] {
            story.calls(name)
            story.load(passesItsDeadline: story.loads.count)
        }
        #expect(story.formerLoads == 0)
        story.calls("Dan")
        story.userSignsOut()
        #expect(story.formerLoads == 0)
    }

    @Test func `by a sign-in in place of a load that was never begun holds no load`() {
        var story = Story()
        story.loaderIsBusy = true
        story.calls("Ann")
        story.user(signsInWith: nil)
        #expect(story.loads.count == 2)
    }

    /// The loads inside which a load runs, without itself.
    private func enclosing(_ load: Load) -> [Load.ID] { load.enclosing.dropLast() }

    private let outer = Load.ID(service: ServiceID(), sessionEpoch: 0, number: 1)

    @Test func `and a load ahead is inside the loads of its caller`() {
        var story = Story(token: token, policy: AccessTokenPolicy(refreshAhead: 300))
        story.time(passes: 3_400)
        story.calls("Ann", inside: [outer])
        #expect(story.loads.map(enclosing) == [[outer]])
    }

    @Test func `and a load after an answer that was rejected is inside the same loads`() {
        var story = Story()
        story.calls("Ann", inside: [outer])
        story.server(rejects: token)
        story.load(1, brings: token)
        #expect(story.loads.map(enclosing) == [[outer], [outer]])
    }

    @Test func `and a load that was held over two sign-ins is inside the loads of its first caller`() {
        var story = Story()
        story.calls("Ann", inside: [outer])
        story.user(signsInWith: nil)
        story.user(signsInWith: nil)
        story.load(1, brings: token)
        #expect(story.loads.map(enclosing) == [[outer], [outer]])
    }

    // MARK: Secrets

    @Test func `shows no token that was rejected`() {
        var story = Story(token: token)
        story.calls("Ann")
        story.server(rejects: token)
        story.calls("Bob")
        story.server(rejects: Story().token("a secret"))
        var text = ""
        dump(story, to: &text)
        #expect(!text.contains("a secret"))
        story.load(passesItsDeadline: 1)
        story.calls("Cid")
        dump(story, to: &text)
        #expect(text.contains("FormerLoad"))
        #expect(!text.contains("a secret"))
    }
}
