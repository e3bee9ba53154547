import AccessTokenCore
import TestSupport
import Testing

/// ``CachedTokenTests`` shows that the state machine obeys the corrected policy.
@Suite("A policy", .takesTurns)
struct AccessTokenPolicyTests {
    static let century = 3_155_760_000.0

    @Test func `has these times by default`() {
        let policy = AccessTokenPolicy(leeway: 30, refreshAhead: 0, loadDeadline: 60, minimumLoadInterval: 10)
        #expect(AccessTokenPolicy() == policy)
    }

    @Test(arguments: [AccessTokenPolicy(), AccessTokenPolicy(leeway: 0, refreshAhead: 5, loadDeadline: nil)])
    func `that makes sense is used as it is`(policy: AccessTokenPolicy) {
        #expect(policy.corrected == policy)
        #expect(policy.corrections.isEmpty)
    }

    @Test(
        arguments: [
            (-1, 0, nil), (-.infinity, 0, nil), (.nan, 0, nil), (.infinity, century, nil), (1e300, century, century),
            (0, 0, nil),
        ] as [(Double, Double, Double?)]
    )
    func `counts senseless times as what its documentation says`(given: Double, used: Double, deadline: Double?) {
        func policy(_ time: Double, _ deadline: Double?) -> AccessTokenPolicy {
            AccessTokenPolicy(leeway: time, refreshAhead: time, loadDeadline: deadline, minimumLoadInterval: time)
        }
        #expect(policy(given, given).corrected == policy(used, deadline))
    }

    @Test func `tells each correction in a sentence of its own`() {
        let policy = AccessTokenPolicy(leeway: -1, refreshAhead: .nan, loadDeadline: .infinity, minimumLoadInterval: -2)
        #expect(
            policy.corrections == [
                "leeway -1.0 s makes no sense and counts as 0.0 s",
                "refreshAhead nan s makes no sense and counts as 0.0 s",
                "loadDeadline inf s makes no sense and counts as none",
                "minimumLoadInterval -2.0 s makes no sense and counts as 0.0 s",
            ]
        )
    }
}
