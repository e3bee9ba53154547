import AccessTokenCore
import AccessTokenGCD
import Dispatch

/// Where a scenario is played: under every interleaving, one after the other, or under one that threads happen to make.
protocol Stage: Sendable {
    /// Where the tasks of a subject run.
    var executor: any TaskExecutor { get }

    /// Has no time but that of its timers.
    var clock: any AccessTokenClock { get }

    /// A serial queue for a subject that takes more than a `DispatchQueue`.
    func queue(_ name: String) -> any SerialQueue

    /// A serial queue for a subject, which may target another one of them.
    func dispatchQueue(_ name: String, target: DispatchQueue?) -> DispatchQueue

    /// Writes down that the present step touches something that others can see.
    func notice(_ text: String, writing: () -> Void)

    /// Does something that others can see, in one piece.
    func notice<Result>(_ text: String, _ body: () -> Result) -> Result

    /// Suspends for as long as the stage likes.
    nonisolated(nonsending) func pause(_ name: String) async

    /// Does something once, at any moment from now on.
    func step(_ name: String, _ action: @escaping @Sendable () -> Void)

    /// Starts a task that takes part, and cancels it at any moment if that is wanted.
    func part(_ name: String, isCancelled: Bool, _ body: @escaping @Sendable () async -> Void)
}

extension Stage {
    /// Says that the present step touches something that others can see, of which nothing is written down.
    func notice(_ text: String) {
        notice(text, writing: {})
    }
}
