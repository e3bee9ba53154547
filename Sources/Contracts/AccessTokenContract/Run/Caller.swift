import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch
import Foundation

/// One caller of the service under test, with a lane of its own, and all that it was told.
final class Caller: Sendable {
    struct Answer: Sendable {
        let result: Result<AccessToken, any Error>
        let wasOnPromisedQueue: Bool
        let cameInsideTheCall: Bool
    }

    private struct State {
        var answers: [Answer] = []
        var cancel: (@Sendable () -> Void)?
        /// The thread that is inside the call at present.
        var callingThread: ObjectIdentifier?
    }

    let name: String
    let lane: Lane
    private let log: RunLog
    private let react: (@Sendable (Caller) -> Void)?
    private let state = Locked(State())

    /// - Parameter react: what the caller does when it is answered: in its handler, or in its task.
    init(name: String, lane: Lane?, log: RunLog, react: (@Sendable (Caller) -> Void)?) {
        self.name = name
        self.log = log
        self.react = react
        self.lane = lane ?? Lane(name)
    }

    var details: [Answer] { state.withLock { $0.answers } }
    var answers: [Result<AccessToken, any Error>] { details.map(\.result) }

    /// Calls a service that takes a handler, on the present thread.
    func call(_ retrieve: ContractService.Retrieving) {
        log.happened("\(name) calls")
        state.withLock { $0.callingThread = ObjectIdentifier(Thread.current) }
        let cancel = retrieve { [self] result in
            take(result)
            react?(self)
            log.check()
        }
        state.withLock { state in
            state.callingThread = nil
            state.cancel = cancel
        }
    }

    /// Calls an async service, in a task that starts on the caller's lane, or wherever the present task is.
    func call(
        _ token: @escaping ContractService.Awaiting,
        isCancelled: Bool,
        priority: TaskPriority?,
        insideLoad: Bool = false
    ) {
        let work: @Sendable () async -> Void = { [self] in
            if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            await callHere(token)
        }
        let task = insideLoad ? Task(priority: priority) { await work() } : lane.start(priority: priority, work)
        state.withLock { $0.cancel = { task.cancel() } }
    }

    /// Calls an async service in the present task.
    func callHere(_ token: ContractService.Awaiting) async {
        log.happened("\(name) calls")
        let result: Result<AccessToken, any Error>
        do { result = .success(try await token()) } catch { result = .failure(error) }
        take(result)
        react?(self)
        log.check()
    }

    /// Says which task the call is made in.
    func isCancelled(by task: Task<Void, Never>) {
        state.withLock { $0.cancel = $0.cancel ?? { task.cancel() } }
    }

    /// Ends the call as far as the subject can; runs code of the subject.
    func cancel() {
        log.happened("\(name) is cancelled")
        state.withLock { $0.cancel }?()
    }

    /// Lets go of what cancels the call, which may hold the service.
    func forgetCancel() {
        _ = state.withLock { $0.cancel.take() }
    }

    private func take(_ result: Result<AccessToken, any Error>) {
        let wasOnPromisedQueue = DispatchQueue.getSpecific(key: promisedQueue) ?? false
        state.withLock { state in
            let isInside = state.callingThread == ObjectIdentifier(Thread.current)
            let answer = Answer(result: result, wasOnPromisedQueue: wasOnPromisedQueue, cameInsideTheCall: isInside)
            state.answers.append(answer)
        }
        log.happened("\(name) gets \(log.text(result))")
    }
}

/// Marks the queue on which handlers are promised to be called.
let promisedQueue = DispatchSpecificKey<Bool>()
