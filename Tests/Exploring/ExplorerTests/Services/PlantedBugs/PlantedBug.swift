import AccessTokenAsync
import AccessTokenGCD
import BuggyServices
import Dispatch
import InterleavingExplorer

/// A service with a bug that is a matter of order, and a scenario that shows it under some schedule.
struct PlantedBug: Sendable {
    let name: String
    let subject: Subject
    let scenario: ContractScenario
    /// A clause of the rule that it breaks; `nil` if a caller waits for ever.
    let clause: String?

    static let all = published + small

    static let published = [
        async("an unguarded await", breaks: "S1", in: "two callers") { UnguardedActor(loader: $0.loader) },
        async("every caller's defer clears the task", breaks: "S1", in: "an error, and two who ask again") {
            let run = $0.run
            return DeferClearingActor(loader: $0.loader) { _ in await run.pause("the token is saved") }
        },
        async("a failed task that stays", breaks: "F2", in: "an error, and asking again") {
            NeverClearingActor(loader: $0.loader)
        },
        async("a waiter that cancels the load", breaks: "X1", in: "two callers, one of them cancelled") {
            CancelForwardingActor(loader: $0.loader)
        },
        async("a load in the first caller's task", breaks: "X1", in: "two callers, one of them cancelled") {
            LeadersTaskActor(loader: $0.loader)
        },
        async("a late answer after sign-out", breaks: "O3", in: "sign-out, and asking again") {
            LateAnswerActor(loader: $0.loader)
        },
        callback("no queue, and a load for each caller", breaks: "S1", in: "two callers") {
            FirstVersionService(loader: $0.loader)
        },
        callback("a weak self that loses the handlers", breaks: nil, in: "the last reference goes") {
            WeakSelfService(loader: $0.loader)
        },
        callback("a decision split over two blocks", breaks: "S1", in: "two callers") {
            SplitQueueService(loader: $0.loader, queue: $0.queue("queue"))
        },
        callback("a decision split over two blocks of Dispatch", breaks: "S1", in: "two callers") {
            let queue = DispatchQueue(label: "queue")
            $0.run.control(queue, "queue")
            return SplitQueueService(loader: $0.loader, queue: queue)
        },
    ]

    static let small = [
        small(.blanketInvalidation, breaks: "I2", in: "a late rejection"),
        small(.registersLate, breaks: nil, in: "two callers"),
        small(.cancellableLate, breaks: nil, in: "a cancelled caller of a silent load"),
        small(.failureForgetsWaitersLate, breaks: nil, in: "two callers and an error"),
        small(.cancelledWaiterFailsAll, breaks: "X1", in: "two callers, one of them cancelled"),
        small(.signOutUndoneByLateAnswer, breaks: "O1", in: "sign-out, and asking again"),
        small(.effectsOutOfOrder, breaks: nil, in: "an error, and then silence"),
        small(.clearsNewerLoads, breaks: nil, in: "a late answer for two"),
    ]

    /// The service that the small bugs are planted in, without one.
    static let withoutBug = smallService(bug: nil)

    private static func smallService(bug: BuggyService.Bug?) -> Subject {
        Subject(bug.map { "\($0)" } ?? "a small service", isByHandlers: true) { surroundings in
            let service = BuggyService(
                BuggyService.Surroundings(
                    loader: surroundings.loader,
                    policy: surroundings.policy,
                    clock: surroundings.clock,
                    handlerQueue: surroundings.queue("handlers"),
                    later: { block in surroundings.run.step("later", block) }
                ),
                bug: bug
            )
            return Subject.Service(provider: .callback(service), currentToken: { service.currentToken })
        }
    }

    private static func async(
        _ name: String,
        breaks clause: String?,
        in scenario: String,
        make: @escaping @Sendable (Subject.Surroundings) -> any AsyncAccessTokenProviding
    ) -> PlantedBug {
        let subject = Subject(name) { Subject.Service(provider: .async(make($0))) }
        return PlantedBug(name: name, subject: subject, scenario: .named(scenario), clause: clause)
    }

    private static func callback(
        _ name: String,
        breaks clause: String?,
        in scenario: String,
        make: @escaping @Sendable (Subject.Surroundings) -> any AccessTokenProviding
    ) -> PlantedBug {
        let subject = Subject(name, isByHandlers: true) { Subject.Service(provider: .callback(make($0))) }
        return PlantedBug(name: name, subject: subject, scenario: .named(scenario), clause: clause)
    }

    private static func small(_ bug: BuggyService.Bug, breaks clause: String?, in scenario: String) -> PlantedBug {
        PlantedBug(
            name: "\(bug)",
            subject: smallService(bug: bug),
            scenario: .named(scenario),
            clause: clause
        )
    }
}

extension PlantedBug: CustomStringConvertible {
    var description: String { name }
}
