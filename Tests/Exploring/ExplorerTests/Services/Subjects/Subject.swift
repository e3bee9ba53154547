import AccessTokenAsync
import AccessTokenGCD
import Dispatch
import InterleavingExplorer

/// A kind of service that scenarios are played on.
struct Subject: Sendable, CustomStringConvertible {
    /// Everything around a service: each moment that is left open is a choice of the schedule.
    struct Surroundings: Sendable {
        let run: ScheduledRun
        let loader: ScriptedLoader
        let clock: any AccessTokenClock
        let policy: AccessTokenPolicy

        /// Is told events: others can see when that was.
        var observe: @Sendable (AccessTokenEvent) -> Void {
            { [run] event in run.effect("\(event)") }
        }

        func queue(_ name: String) -> any SerialQueue {
            ControlledSerialQueue(run.queue(name))
        }
    }

    /// A service, reduced to what scenarios do with it.
    struct Service: Sendable {
        enum Provider: Sendable {
            case async(any AsyncAccessTokenProviding)
            case callback(any AccessTokenProviding)
        }

        let provider: Provider
        /// For parts that are tasks.
        var signIn: @Sendable (AccessToken) async -> Void = { _ in }
        /// For parts that are chains of handlers; calls back when the sign-in counts.
        var signInFromHandler: @Sendable (AccessToken, @escaping @Sendable () -> Void) -> Void = { _, counts in counts()
        }
        /// Whether a sign-out by callback counts for everybody when the call returns.
        var signsOutAtOnce = true
        var currentToken: (@Sendable () -> AccessToken?)?
    }

    let name: String
    var isByHandlers = false
    let make: @Sendable (Surroundings) -> Service
    var description: String { name }
}

extension Subject.Service {
    /// The actor, or a view of it.
    init(_ service: AsyncAccessTokenService, as view: (any AsyncAccessTokenProviding)? = nil) {
        self.init(
            provider: .async(view ?? service),
            signIn: { await service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// The queue service, or a view of it.
    init(_ service: AccessTokenService, as view: (any AccessTokenProviding)? = nil) {
        self.init(
            provider: .callback(view ?? service),
            signInFromHandler: { token, counts in
                service.signIn(token)
                counts()
            },
            currentToken: { service.currentToken }
        )
    }
}

/// A queue of the explorer as a service takes one: each block is a choice, but only when it is there.
private final class ControlledSerialQueue: SerialQueue {
    /// Has what blocks find of their queue, such as the loads that a loader is called in.
    let dispatchQueue: DispatchQueue
    private let controlled: ControlledQueue

    init(_ controlled: ControlledQueue) {
        self.controlled = controlled
        dispatchQueue = DispatchQueue(label: controlled.name)
    }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        controlled.async { [dispatchQueue] in dispatchQueue.sync(execute: block) }
    }
}
