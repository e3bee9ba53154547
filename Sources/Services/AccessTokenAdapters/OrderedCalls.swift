import AccessTokenSynchronization

/// Calls of an actor that are made in the order in which they were added, each after the one before has returned.
final class OrderedCalls: Sendable {
    typealias Call = @Sendable () async -> Void

    private let startTask: TaskStarter
    private let state = Locked<(calls: [Call], areUnderWay: Bool)>(([], false))

    init(startTask: TaskStarter) {
        self.startTask = startTask
    }

    /// Whether a call was added that has not returned.
    var areUnderWay: Bool { state.withLock { $0.areUnderWay } }

    /// Adds a call, which must return soon: the next one waits for it.
    func add(_ call: @escaping Call) {
        let isFirst = state.withLock { state in
            state.calls.append(call)
            defer { state.areUnderWay = true }
            return !state.areUnderWay
        }
        if isFirst { startTask { [self] in await makeCalls() } }
    }

    /// Returns when the calls that were added before have returned, or when the task is cancelled, if that counts.
    nonisolated(nonsending) func finished(isCancellable: Bool) async {
        guard areUnderWay, !EnclosingCall.isInside(of: self) else { return }
        await untilCalled(isCancellable: isCancellable) { finish in add { finish(()) } }
    }

    private func makeCalls() async {
        while var calls = takeAll() {
            while let call = calls.popLast() { await EnclosingCall.make(call, in: self) }
        }
    }

    /// The calls that were added, the last one first; `nil` ends the task.
    private func takeAll() -> [Call]? {
        state.withLock { state in
            state.areUnderWay = !state.calls.isEmpty
            defer { state.calls = [] }
            return state.areUnderWay ? state.calls.reversed() : nil
        }
    }
}

/// Returns when somebody calls what `begin` is given; or when the task is cancelled, if that counts.
nonisolated(nonsending) func untilCalled(
    isCancellable: Bool,
    _ begin: (_ finish: OneShot<Void>) -> Void
) async {
    let cancelled = Latch()
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let finish = OneShot(abandoned: ()) { continuation.resume() }
            begin(finish)
            if isCancellable { cancelled.whenFired { finish(()) } }
        }
    } onCancel: {
        cancelled.fire()
    }
}
