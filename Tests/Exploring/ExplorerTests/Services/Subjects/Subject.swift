import AccessTokenAsync
import AccessTokenGCD
import Foundation
import InterleavingExplorer

/// A kind of service that scenarios are played on.
struct Subject: Sendable {
    /// Everything around a service that the stage controls.
    struct Surroundings: Sendable {
        let stage: any Stage
        let loader: ScriptedLoader
        let clock: any AccessTokenClock
        let policy: AccessTokenPolicy

        /// Is told events: others can see when that was.
        var observe: @Sendable (AccessTokenEvent) -> Void {
            { [stage] event in stage.notice("\(event)") }
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
    let isByHandlers: Bool
    let make: @Sendable (Surroundings) -> Service

    init(
        _ name: String,
        isByHandlers: Bool = false,
        make: @escaping @Sendable (Surroundings) -> Service
    ) {
        self.name = name
        self.isByHandlers = isByHandlers
        self.make = make
    }
}

extension Subject: CustomStringConvertible {
    var description: String { name }
}
