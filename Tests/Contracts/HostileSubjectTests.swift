import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("The suite ends and reports, whatever the subject does", .takesTurnsToWait, .endsHangs)
struct HostileSubjectTests {
    /// Of the closures that a subject hands over, and what they do to the thread that calls them.
    enum Place: String, CaseIterable, Sendable {
        case make, retrieve, invalidate, signIn, signOut, currentToken, cancel
    }

    /// Short, since these subjects are silent for good; a busy machine makes it longer.
    private static let limit: TimeInterval = 0.2

    /// The queue service, with a closure that blocks its thread for good.
    ///
    /// Of the actor it would take threads of the pool: who resumes a task waits for its cancellation handlers.
    private static func blocking(_ place: Place) -> ContractSubject {
        let features: ContractFeatures = [
            .invalidation, .signIn, .signOut, .currentToken, .cancellation, .asyncCallers,
        ]
        return ContractSubject("blocks in \(place)", features: features) { fixture in
            let loader = CallbackLoaderAdapter(of: fixture.loader)
            let service = AccessTokenService(loader: loader, clock: fixture.clock)
            let block: @Sendable (Place) -> Void = { here in
                if here == place { DispatchSemaphore(value: 0).wait() }
            }
            block(.make)
            return .awaiting {
                block(.retrieve)
                return try await withTaskCancellationHandler {
                    try await service.token()
                } onCancel: {
                    block(.cancel)
                }
            } invalidate: { token in
                block(.invalidate)
                service.invalidate(token)
            } signIn: { token in
                block(.signIn)
                service.signIn(token)
            } signOut: {
                block(.signOut)
                await service.signOut()
            } currentToken: {
                block(.currentToken)
                return service.currentToken
            }
        }
    }

    @Test(arguments: zip(Place.allCases, ["L1", "L1", "I1", "O2", "O3", "D9", "X1"] as [ClauseID]))
    func `also if it blocks a thread`(in place: Place, breaking id: ClauseID) async throws {
        // Each clause that meets the block costs several time limits.
        let report = await ServiceContract.verify(
            Self.blocking(place),
            clauses: ServiceContract.clauses.some(including: [id], toTry: place.rawValue),
            scripts: 0,
            timeLimit: Self.limit,
            onProgress: nil
        )
        #expect(report.brokenIDs.contains(id), "\(report)")
        let violation = try #require(report.violations.first { $0.clause.id == id })
        #expect(violation.observed.contains("blocks its thread") || violation.observed.contains("does not"))
    }

    @Test(
        arguments: [
            (.invalidate, [.call, .answer(.token), .reject(.current)], "I1"),
            (.signIn, [.signIn(.valid)], "O2"),
            (.signIn, [.callRightAfter(.signIn)], "O2"),
            (.signOut, [.signOut], "O3"),
        ] as [(Place, Script, ClauseID)]
    )
    func `also if a script meets the block`(in place: Place, _ script: Script, breaking id: ClauseID) async {
        let violation = await script.play(on: Self.blocking(place), timeLimit: Self.limit)
        #expect(violation?.clause.id == id, "\(violation.map { "\($0)" } ?? "kept")")
    }

    @Test func `also if its sign-out never returns, and blames no clause but the one about sign-out`() async throws {
        let subject = ContractSubject("never signs out", features: [.signIn, .signOut]) { fixture in
            let service = AsyncAccessTokenService(loader: fixture.loader)
            return .awaiting {
                try await service.token()
            } signIn: { token in
                await service.signIn(token)
            } signOut: {
                await service.signOut()
                await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        let report = await subject.report(timeLimit: Self.limit)
        #expect(report.brokenIDs == ["O3"], "\(report)")
        let violation = try #require(report.violations.first)
        #expect(violation.expected == "the closure signOut: to return")
        #expect(violation.observed == "it does not; loads started: 1, none is running")
        #expect(report.notJudged.map(\.id) == ["O5", "O7"], "\(report)")
        // Situations without a sign-out judge the others.
        #expect(Set(report.leftOut.map(\.clause.id)) == ["O6", "D1"], "\(report)")
        // A clause that is verified by itself says the same.
        let signIn = try #require(ServiceContract.clauses.first { $0.id == "O6" })
        guard case .notJudged(let reason) = await signIn.verify(subject, timeLimit: Self.limit) else {
            Issue.record("O6 must not be judged")
            return
        }
        #expect(reason.hasPrefix("a step that O3 judges failed; the closure signOut: to return"))
    }

    @Test func `also if one clause alone sees the bug, and leaves it to another`() async throws {
        // Of exactly two callers of a failed load the second is forgotten: F3 calls so often, F1 four times.
        let subject = ContractSubject("forgets the second", promises: ["F3"]) { fixture in
            let service = AccessTokenService(loader: fixture.loader)
            let calls = Locked(0)
            return .retrieving { handler in
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                service.retrieveToken { result in
                    if case .failure = result, number == 2, calls.withLock({ $0 }) == 2 { return }
                    handler(result)
                }
            }
        }
        let clauses = ServiceContract.clauses.filter { ["L1", "F1", "F3"].contains($0.id) }
        let outcomes = Locked<[String]>([])
        let report = await ServiceContract.verify(subject, clauses: clauses, scripts: 0, timeLimit: Self.limit) {
            progress in
            if progress.outcome != nil { outcomes.withLock { $0.append(progress.description) } }
        }
        #expect(report.brokenIDs == ["F3"], "\(report)")
        #expect(report.notJudged.isEmpty, "\(report)")
        let violation = try #require(report.violations.first)
        #expect(violation.summary == "caller 2 to get an error; observed: no answer; loads started: 1, none is running")
        #expect(outcomes.withLock { $0.last }?.contains("F3 BROKEN") == true)
        // Where F1 was not asked, the report cannot know whose bug it is.
        let one = await subject.report(on: "F3", timeLimit: Self.limit)
        #expect(one.notJudged.map(\.id) == ["F3"], "\(one)")
    }

    @Test(arguments: [true, false])
    func `and tries again, with four time limits, what comes after one`(andComesInTimeThen isInTime: Bool) async {
        // L1 and F1 must not need a second try on a busy machine: the number of services is exact.
        let limit: TimeInterval = 1
        let services = Locked(0)
        let subject = ContractSubject("slow") { fixture in
            let number = services.withLock { services in
                services += 1
                return services
            }
            let service = AccessTokenService(loader: fixture.loader)
            return .retrieving { handler in
                service.retrieveToken { result in
                    guard case .failure = result else { return handler(result) }
                    Task {
                        // A busy machine makes these limits longer, as it does those of the suite.
                        let limits: Double = number < 3 || isInTime ? 2 : 8
                        _ = await ControlledLoader().started(1, timeLimit: limits * limit)
                        handler(result)
                    }
                }
            }
        }
        let report = await subject.report(on: "L1", "F1", timeLimit: limit)
        #expect(services.withLock { $0 } == 3)
        #expect(report.brokenIDs == [], "\(report)")
        #expect(report.notJudged.map(\.id) == (isInTime ? [] : ["F1"]), "\(report)")
        let advice = "no answer within 4.0 s, but later; give a longer timeLimit:, or set your retries to 0"
        #expect("\(report)".contains("F1  not judged  \(advice)") == !isInTime, "\(report)")
    }

    @Test func `and what is silent in many clauses is waited for in all of them at once`() async {
        let features: ContractFeatures = [.invalidation, .signIn, .signOut]
        let subject = ContractSubject("answers its first caller", features: features) { fixture in
            let calls = Locked(0)
            return .retrieving { handler in
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                if isFirst { fixture.loader.load(replacing: nil, then: handler) }
            } invalidate: { _ in
            } signIn: { _ in
            } signOut: {
            }
        }
        let events = Locked<[ContractProgress]>([])
        let report = await ServiceContract.verify(subject, scripts: 0) { progress in
            events.withLock { $0.append(progress) }
        }
        let silences = report.violations.count { $0.observed.hasPrefix("no answer") }
        #expect(silences > 8, "\(report)")
        // Such a clause takes four time limits. How many of them began behind the verdict of another one?
        var (inARow, begun): (Int, Set<ClauseID>) = (0, [])
        for event in events.withLock({ $0 }) {
            guard let id = event.clause?.id else { continue }
            switch event.outcome {
            case nil: begun.insert(id)
            case .broken(let violation)? where violation.observed.hasPrefix("no answer") && begun.contains(id):
                (inARow, begun) = (inARow + 1, [])
            default: break
            }
        }
        #expect(inARow <= 2, "\(report)")
    }

    @Test func `and what cannot load costs one time limit`() async {
        let clauses = Locked(0)
        let subject = ContractSubject("dead") { _ in
            clauses.withLock { $0 += 1 }
            return .retrieving { _ in }
        }
        let report = await subject.report(timeLimit: Self.limit)
        #expect(report.brokenIDs == ["L1"])
        #expect(report.notJudged.count == ServiceContract.clauses.count - 1 - report.skippedIDs.count)
        #expect(clauses.withLock { $0 } == 1)
    }

    @Test func `in a bounded trace`() async throws {
        let subject = ContractSubject("storms") { fixture in
            .retrieving { handler in
                for _ in 0..<2_000 { fixture.loader.load(replacing: nil) { _ in } }
                fixture.loader.load(replacing: nil, then: handler)
            }
        }
        let violation = try #require(await subject.report(on: "S1", timeLimit: Self.limit).violations.first)
        #expect(violation.trace.count < 150)
        #expect(violation.trace.contains { $0.hasSuffix("more …") })
    }

    #if os(Linux) || os(macOS)
    @Test func `also if it blocks all threads of the pool`() async {
        // In a process of its own: the other tests need the pool.
        await #expect(processExitsWith: .exitCode(7)) {
            let subject = ContractSubject("blocks the pool") { fixture in
                .awaiting {
                    for _ in 0..<64 { Task.detached { HostileSubjectTests.waitForEver() } }
                    return await Task.detached { AccessToken(value: "never") }.value
                }
            }
            _ = await ServiceContract.verify(subject, timeLimit: 0.05) { progress in
                guard case .broken = progress.outcome, progress.clause?.id == "L1" else { return }
                // Nothing that is awaited comes back to a pool without threads.
                exit(7)
            }
        }
    }

    static func waitForEver() {
        DispatchSemaphore(value: 0).wait()
    }

    @Test func `so that a crash can be read after the end of its process`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let clauses = ServiceContract.clauses.filter { ["L1", "D7"].contains($0.id) }
                _ = await ServiceContract.verify(ContinuationTwin.subject(isRepaired: false), clauses: clauses)
            }
        )
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("a continuation: L1 is running"))
        #expect(text.contains("a continuation: D7 is running"))
        #expect(!text.contains("L1 BROKEN"))
        // Below a backtrace as well.
        #expect(text.split(separator: "\n").last?.hasPrefix("a continuation: D7 is running") == true, "\(text)")
    }
    #endif

    @Test func `and the same subject does not crash when it is repaired`() async {
        let report = await ContinuationTwin.subject(isRepaired: true).report(on: "L1", "D1", "D7", "D8")
        // It caches nothing, and shares nothing: these clauses do not ask.
        #expect(report.isKept, "\(report)")
    }
}
