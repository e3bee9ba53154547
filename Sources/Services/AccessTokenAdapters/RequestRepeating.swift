import AccessTokenAsync
package import AccessTokenCore
package import AccessTokenFoundation
import AccessTokenGCD

// An adapter hands the questions of `withToken` on to the service that it stands for.

extension CallbackServiceAdapter: RequestRepeating {
    package var userEpoch: Int? { (base as? any RequestRepeating)?.userEpoch }

    package func withRepeatedRequests<Result: Sendable>(
        _ body: (inout RepeatedRequests, _ now: Date) -> Result
    ) -> Result? {
        (base as? any RequestRepeating)?.withRepeatedRequests(body)
    }
}

extension AsyncServiceAdapter: RequestRepeating {
    package var userEpoch: Int? { (base as? any RequestRepeating)?.userEpoch }

    package func withRepeatedRequests<Result: Sendable>(
        _ body: (inout RepeatedRequests, _ now: Date) -> Result
    ) -> Result? {
        (base as? any RequestRepeating)?.withRepeatedRequests(body)
    }
}
