import AccessTokenSynchronization

/// Something that has begun on a lane of its own, and has come to its end or to a silence: it waits for what the
/// subject owes, and most probably in vain.
///
/// Such a wait takes as long as a slow subject may take, and no processor. What comes next can begin meanwhile.
package struct Begun<Outcome: Sendable>: Sendable {
    package typealias OnSilence = @Sendable (_ accused: ClauseID?) -> Void

    private final class Progress: Sendable {
        let outcome = Locked<Outcome?>(nil)
        let accused = Locked<ClauseID?>(nil)
    }

    private let progress: Progress
    private let task: Task<Outcome, Never>

    /// The outcome, if there is one already.
    package var outcome: Outcome? { progress.outcome.withLock { $0 } }
    /// The clause that is broken if the last silence does not end.
    var accusedID: ClauseID? { progress.accused.withLock { $0 } }
    /// The outcome, as soon as it is there.
    package var end: Outcome { get async { await task.value } }

    /// Begins it; returns at its end or first silence.
    package init(_ name: String, _ body: @escaping @Sendable (@escaping OnSilence) async -> Outcome) async {
        let progress = Progress()
        let (signs, sign) = AsyncStream.makeStream(of: Void.self)
        task = Lane(name).start {
            let outcome = await body { accused in
                progress.accused.withLock { $0 = accused }
                sign.yield()
            }
            progress.outcome.withLock { $0 = outcome }
            sign.yield()
            return outcome
        }
        self.progress = progress
        for await _ in signs { break }
    }
}
