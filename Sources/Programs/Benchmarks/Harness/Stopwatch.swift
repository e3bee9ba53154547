import AccessTokenCore
import AccessTokenSynchronization
import Dispatch

/// Time since it was made.
struct Stopwatch: Sendable {
    private let start = DispatchTime.now().uptimeNanoseconds

    var nanoseconds: Double { Double(DispatchTime.now().uptimeNanoseconds - start) }

    func sample(per count: Int) -> Sample {
        Sample(nanoseconds: nanoseconds / Double(count))
    }
}

/// Lets a thread, none of the pool's, wait until `leave()` was called so many times.
func countdown(_ count: Int) -> DispatchGroup {
    let group = DispatchGroup()
    for _ in 0..<count { group.enter() }
    return group
}

/// Uses a token as its receiver would, as far as the optimizer can tell.
@inline(never)
func use(_ token: AccessToken) -> Int {
    token.value.utf8.count
}
