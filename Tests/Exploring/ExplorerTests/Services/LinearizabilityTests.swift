import AccessTokenAsync
import AccessTokenGCD
import InterleavingExplorer
import TestSupport
import Testing

/// The services look to concurrent callers as if each call happened at one moment.
@Suite("Both services are linearizable", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct LinearizabilityTests {
    enum Call: Sendable {
        case token
        case invalidate(String)
        case signIn(String)
        case signOut
    }

    enum Answer: Hashable, Sendable {
        case done
        case token(String)
        case signedOut
        case other(String)
    }

    /// What a service does that is called by one caller after the other: the rules of the contract in a few lines.
    struct OneCallerAtATime: SequentialSpecification {
        private var isSignedIn = true
        private var current: String?
        private var known: Set<String> = []

        mutating func permits(_ call: Call, answering answer: Answer) -> Bool {
            switch (call, answer) {
            case (.token, .signedOut): return !isSignedIn
            case (.token, .token(let value)):
                guard isSignedIn else { return false }
                if let current { return value == current }
                // A load brings a token that no caller had before.
                current = value
                return known.insert(value).inserted
            case (.invalidate(let value), .done):
                if current == value { current = nil }
                return true
            case (.signIn(let value), .done):
                isSignedIn = true
                current = value
                return known.insert(value).inserted
            case (.signOut, .done):
                isSignedIn = false
                current = nil
                return true
            default: return false
            }
        }
    }

    static let programs: [[[Call]]] = [
        [[.token], [.token]],
        [[.token, .invalidate("t1"), .token], [.token]],
        [[.token], [.signOut]],
        [[.token], [.signOut, .signIn("s1"), .token]],
        [[.token, .token], [.signIn("s1")]],
    ]

    @Test(arguments: programs.indices, [true, false])
    func `so that an order of the calls explains the answers`(_ index: Int, isActor: Bool) async {
        var explorer = Explorer()
        explorer.maximumSchedules = effort == nil ? 100 : 400
        let report = await explorer.explore(Self.scenario(Self.programs[index], isActor: isActor) { $0 })
        #expect(report.holds, "\(report)")
        let tally = report.isComplete ? "all \(report.schedules)" : "\(report.schedules)"
        print("linearizable: \(isActor ? "actor" : "queue") | \(index) | \(tally) schedules")
    }

    /// A service that hands out a token twice as if it were new is found out.
    @Test func `and a wrong answer is noticed`() async {
        let report = await Explorer().explore(
            Self.scenario(Self.programs[0], isActor: true) { answer in answer == .token("t1") ? .signedOut : answer }
        )
        #expect(report.failure?.message.contains("linearizable") == true, "\(report)")
    }

    private static func scenario(
        _ program: [[Call]],
        isActor: Bool,
        _ falsify: @escaping @Sendable (Answer) -> Answer
    ) -> Scenario {
        Scenario("calls") { run in
            let history = CallHistory(of: run, OneCallerAtATime())
            let service = isActor ? Service.actor(run) : Service.queue(run)
            for (index, calls) in program.enumerated() {
                run.operation("caller \(index + 1)") {
                    for call in calls {
                        await history.call(call) { falsify(await service.answer(call)) }
                    }
                }
            }
        }
    }
}

/// Either service, as one function.
private struct Service: Sendable {
    typealias Call = LinearizabilityTests.Call
    typealias Answer = LinearizabilityTests.Answer

    let answer: @Sendable (Call) async -> Answer

    static func actor(_ run: ScenarioRun) -> Service {
        let service = AsyncAccessTokenService(
            loader: Loader(run: run),
            policy: AccessTokenPolicy(loadDeadline: nil),
            executor: run.executor
        )
        return Service { call in
            switch call {
            case .token:
                do { return .token(try await service.token().value) } catch { return Answer(error) }
            case .invalidate(let value): await service.invalidate(AccessToken(value: value))
            case .signIn(let value): await service.signIn(AccessToken(value: value))
            case .signOut: await service.signOut()
            }
            return .done
        }
    }

    static func queue(_ run: ScenarioRun) -> Service {
        let queue = ControlledSerialQueue(run.queue("queue"))
        let service = AccessTokenService(
            loader: Loader(run: run),
            policy: AccessTokenPolicy(loadDeadline: nil),
            clock: ExploredStage(run: run).clock,
            loaderOn: queue,
            handlersOn: queue,
            eventsOn: { queue.enqueue($0) },
            onEvent: nil
        )
        return Service { call in
            await withCheckedContinuation { continuation in
                switch call {
                case .token:
                    service.retrieveToken { result in
                        switch result {
                        case .success(let token): continuation.resume(returning: .token(token.value))
                        case .failure(let error): continuation.resume(returning: Answer(error))
                        }
                    }
                case .invalidate(let value):
                    service.invalidate(AccessToken(value: value))
                    continuation.resume(returning: .done)
                case .signIn(let value):
                    service.signIn(AccessToken(value: value))
                    continuation.resume(returning: .done)
                case .signOut:
                    service.signOut { continuation.resume(returning: .done) }
                }
            }
        }
    }

    /// Brings `t1`, `t2` and so on, each when the schedule says so.
    private final class Loader: AccessTokenLoader, AsyncAccessTokenLoader {
        private let run: ScenarioRun
        private let loads = Locked(0)

        init(run: ScenarioRun) {
            self.run = run
        }

        private func next() -> AccessToken {
            loads.withLock { loads in
                loads += 1
                return AccessToken(value: "t\(loads)")
            }
        }

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let token = next()
            await run.pause("\(token.value) comes")
            return token
        }

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            let token = next()
            run.step("\(token.value) comes") { handler(.success(token)) }
        }

        func signOut() async {}

        func signOut(then done: @escaping @Sendable () -> Void) {
            done()
        }
    }
}

extension LinearizabilityTests.Answer {
    fileprivate init(_ error: any Error) {
        self = error as? AccessTokenError == .signedOut ? .signedOut : .other("\(error)")
    }
}
