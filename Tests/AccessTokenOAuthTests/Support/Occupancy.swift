import AccessTokenOAuth

/// Counts how many are inside at once.
final class Occupancy: Sendable {
    private let counts = Locked((inside: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }

    func leave() {
        counts.withLock { $0.inside -= 1 }
    }
}
