import Dispatch
import LoopbackAuthorizationServer

/// Holds the server's answers to token requests back until a test lets them go.
struct HeldAnswer: Sendable {
    private let requests = AsyncStream.makeStream(of: Void.self)
    private let gate = DispatchSemaphore(value: 0)

    /// Give this to the server as its `onEvent`: it is called on the thread that is about to answer.
    func observe(_ event: AuthorizationServerEvent) {
        guard case .tokenRequested = event else { return }
        requests.continuation.yield()
        gate.wait()
        gate.signal()
    }

    /// Returns when the server has received a token request and holds its answer back.
    func requestHasArrived() async {
        for await _ in requests.stream { return }
    }

    /// Lets this answer go, and all others.
    func release() {
        gate.signal()
    }
}
