public import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
public import Foundation

/// A loader that answers when a test says so, for callback and async services alike.
///
/// ```swift
/// let loader = ControlledLoader()
/// let service = AccessTokenService(loader: loader)
/// service.retrieveToken { … }
/// await loader.started(1)?.answer(.success(token))
/// ```
public final class ControlledLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    private struct State {
        var loads: [ControlledLoad] = []
        var signOuts = 0
        /// What is to be told that the session is forgotten; `nil` if that is said at once.
        var heldSignOuts: [@Sendable () -> Void]?
        var ignoresCancellation = false
        var duringLoad: (@Sendable (ControlledLoad) async -> Void)?
        var insideLoad: (@Sendable (ControlledLoad) -> Void)?
    }

    private let state = Locked(State())
    let log: RunLog

    /// Creates a loader that has not been asked yet.
    public convenience init() {
        self.init(log: RunLog())
    }

    init(log: RunLog) {
        self.log = log
    }

    /// The loads that were started, in their order.
    public var loads: [ControlledLoad] { state.withLock { $0.loads } }

    /// How often the loader was told to forget its session.
    public var signOuts: Int { state.withLock { $0.signOuts } }

    /// Waits until `count` loads were started, and returns the last of these; `nil` after `timeLimit` seconds.
    ///
    /// Loads are counted from 1: for a smaller number the answer is `nil` at once.
    public func started(_ count: Int, timeLimit: TimeInterval = 10) async -> ControlledLoad? {
        guard count > 0 else { return nil }
        _ = await log.wait(timeLimit) { self.loads.count >= count }
        let loads = loads
        return loads.count >= count ? loads[count - 1] : nil
    }

    /// From now on does this inside `load(replacing:)`, before the load waits for its answer.
    public func duringLoad(_ body: @escaping @Sendable (ControlledLoad) async -> Void) {
        state.withLock { $0.duringLoad = body }
    }

    /// From now on does this inside `load(replacing:then:)`, before that returns.
    public func insideLoad(_ body: @escaping @Sendable (ControlledLoad) -> Void) {
        state.withLock { $0.insideLoad = body }
    }

    /// Starts a load for a callback service.
    public func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let load = start(replacing: old, handler: handler)
        state.withLock { $0.insideLoad }?(load)
    }

    /// Starts a load for an async service; like a request over the network, it fails when its task is cancelled.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        let (answers, answer) = AsyncStream<LoadResult>.makeStream()
        let load = start(replacing: old) { answer.yield($0) }
        await state.withLock { $0.duringLoad }?(load)
        let result: LoadResult?
        if state.withLock({ $0.ignoresCancellation }) {
            result = await Task { await answers.first { _ in true } }.value
        } else {
            answer.onTermination = { _ in load.cancel() }
            result = await answers.first { _ in true }
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// From now on an async load goes on when its task is cancelled.
    func ignoreCancellation() {
        log.happened("the loader ignores cancellation")
        state.withLock { $0.ignoresCancellation = true }
    }

    /// Counts a sign-out.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            state.signOuts += 1
            state.heldSignOuts?.append(done)
            return state.heldSignOuts != nil
        }
        log.happened(isHeld ? "the loader is told to forget the session" : "the loader forgot the session")
        if !isHeld { done() }
    }

    /// Counts a sign-out.
    public func signOut() async {
        await withCheckedContinuation { done in signOut { done.resume() } }
    }

    /// From now on forgets no session until ``releaseSignOuts()``.
    func holdSignOuts() {
        state.withLock { $0.heldSignOuts = [] }
    }

    /// Has forgotten the sessions of all sign-outs.
    func releaseSignOuts() {
        for done in state.withLock({ $0.heldSignOuts.take() }) ?? [] { done() }
    }

    /// Lets go of what tests have it do; that leaves the lock before it is released.
    func forgetHooks() {
        _ = state.withLock { ($0.duringLoad.take(), $0.insideLoad.take()) }
    }

    private func start(replacing old: AccessToken?, handler: @escaping AccessTokenHandler) -> ControlledLoad {
        let load = state.withLock { state in
            let load = ControlledLoad(
                number: state.loads.count + 1,
                replacing: old,
                beside: state.loads.first(where: \.isOpen)?.number,
                handler: handler,
                log: log
            )
            state.loads.append(load)
            return load
        }
        log.happened("load \(load.number) is started, replacing \(old.map(log.name) ?? "nothing")")
        return load
    }
}
