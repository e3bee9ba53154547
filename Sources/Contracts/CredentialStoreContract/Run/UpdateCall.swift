import AccessTokenContract
import AccessTokenCore
import AccessTokenOAuth

/// One call of `update`, whose body the scenario can hold.
final class UpdateCall: Sendable {
    private struct State {
        var seen: [CredentialRecord?] = []
        var result: Result<CredentialRecord?, any Error>?
        var task: Task<Void, Never>?
    }

    let name: String
    /// The body goes on when the scenario opens it.
    let exit = Gate()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// The records with which the body was run: one, or the store runs bodies twice.
    var seen: [CredentialRecord?] { state.withLock { $0.seen } }
    var result: Result<CredentialRecord?, any Error>? { state.withLock { $0.result } }

    func sees(_ record: CredentialRecord?) { state.withLock { $0.seen.append(record) } }
    func ends(_ result: Result<CredentialRecord?, any Error>) { state.withLock { $0.result = result } }
    func runs(in task: Task<Void, Never>) { state.withLock { $0.task = task } }
    func cancel() { state.withLock { $0.task }?.cancel() }
}

/// Lets tasks wait until it is opened.
final class Gate: Sendable {
    private let state = Locked((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// What a scenario's body throws.
struct BodyError: Error, Hashable {}
