import Synchronization

/// Where both threads wait, awake, for the other one.
final class Meeting: Sendable {
    private let absent = Atomic(2)

    func arrive() {
        absent.subtract(1, ordering: .acquiringAndReleasing)
        while absent.load(ordering: .acquiring) > 0 {}
    }
}
