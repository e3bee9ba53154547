import TestSupport
import Testing

@testable import friends_sample

@Suite("The friends sample", .takesTurns, .endsHangs)
struct FriendsSampleTests {
    @Test(arguments: [(ServiceKind.naive, 2), (.sharedTask, 1), (.guarded, 1)])
    func `logs each of the six steps for each caller, and once where callers share a load`(
        kind: ServiceKind,
        times: Int
    ) async {
        let log = await FriendsScreen.log(kind)
        for step in Step.allCases {
            #expect(log.count { $0 == step.rawValue } == times, "\(step)")
        }
        // Callers that do not wait for each other may end apart: one shows what it got before the other has stored.
        let shown = ["shows the friends: friend of user 1", "shows the user: user 1"]
        #expect(log.filter { $0.hasPrefix("shows") }.sorted() == shown)
        if kind == .guarded { #expect(log.suffix(2).sorted() == shown) }
    }
}
