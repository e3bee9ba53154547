import AccessTokenSynchronization

/// The requests of one session, or one store, that are under way: it can cancel its own and no others.
final class RunningRequests: Sendable {
    private struct Request: Sendable {
        let cancellation: Latch
        let subject: String?
    }

    private let requests = Locked<[ObjectIdentifier: Request]>([:])

    var count: Int { requests.withLock { $0.count } }

    /// - Parameter subject: the user with whose credential the request is made, if that is known.
    func begin(for subject: String? = nil) -> Latch {
        let cancellation = Latch()
        let request = Request(cancellation: cancellation, subject: subject)
        requests.withLock { $0[ObjectIdentifier(cancellation)] = request }
        return cancellation
    }

    func end(_ cancellation: Latch) {
        // Its actions are released outside of the lock.
        _ = requests.withLock { $0.removeValue(forKey: ObjectIdentifier(cancellation)) }
    }

    /// Cancels all but those of another user.
    func cancelAll(of subject: String? = nil) {
        let own = requests.withLock { requests in requests.values.filter { !$0.subject.isAnother(than: subject) } }
        for request in own { request.cancellation.fire() }
    }
}
