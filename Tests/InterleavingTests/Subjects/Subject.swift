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
        var signIn: @Sendable (AccessToken) -> Void = { _ in }
        var currentToken: (@Sendable () -> AccessToken?)?
    }

    /// How many of its schedules are tried.
    enum Reach: Sendable {
        /// All of them, but in these scenarios, which have too many: those with at most three departures from
        /// first-in-first-out order.
        case everySchedule(butIn: Set<String>)
        /// Those with at most so many departures.
        case bounded(departures: Int)
    }

    let name: String
    let isByHandlers: Bool
    let reach: Reach
    let make: @Sendable (Surroundings) -> Service

    init(
        _ name: String,
        isByHandlers: Bool = false,
        reach: Reach = .everySchedule(butIn: []),
        make: @escaping @Sendable (Surroundings) -> Service
    ) {
        self.name = name
        self.isByHandlers = isByHandlers
        self.reach = reach
        self.make = make
    }

    func mode(for scenario: ContractScenario) -> SearchMode {
        switch reach {
        case .everySchedule(let tooBig): tooBig.contains(scenario.name) ? .bounded(departures: 3) : .exhaustive
        case .bounded(let departures): .bounded(departures: departures)
        }
    }
}

extension Subject: CustomStringConvertible {
    var description: String { name }
}
