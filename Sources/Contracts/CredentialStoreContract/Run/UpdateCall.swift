import AccessTokenContract
import AccessTokenCore
import AccessTokenOAuth

/// One call of `update`, whose body the scenario can hold.
final class UpdateCall: Sendable {
    typealias Outcome = Result<CredentialRecord?, any Error>

    private struct State {
        var seen: [CredentialRecord?] = []
        var result: Outcome?
        var task: Task<Void, Never>?
    }

    let name: String
    private let exit = AsyncStream<Never>.makeStream()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// The records with which the body was run: one, or the store runs bodies twice.
    var seen: [CredentialRecord?] { state.withLock { $0.seen } }
    var result: Outcome? { state.withLock { $0.result } }

    func sees(_ record: CredentialRecord?) { state.withLock { $0.seen.append(record) } }
    func ends(_ result: Outcome) { state.withLock { $0.result = result } }
    func runs(in task: Task<Void, Never>) { state.withLock { $0.task = task } }
    /// Lets the body go on.
    func letGo() { exit.continuation.finish() }
    /// Holds the body until the scenario lets it go on, or cancels the call.
    func waitAtExit() async { for await _ in exit.stream {} }
    func cancel() { state.withLock { $0.task }?.cancel() }
}

/// What a scenario's body throws.
struct BodyError: Error, Hashable {}
