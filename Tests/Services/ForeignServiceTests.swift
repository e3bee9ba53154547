import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Adapters of services and loaders of others", .eightAtATime)
struct ForeignServiceTests {
    /// Says when it is called and cancelled, and never answers.
    private final class SilentService: AccessTokenProviding {
        let isCalled = Event()
        let isCancelled = Event()
        private let handlers = Locked<[AccessTokenHandler]>([])
        private let onCall: @Sendable () -> Void

        init(onCall: @escaping @Sendable () -> Void = {}) { self.onCall = onCall }

        @available(*, renamed: "token()")
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            handlers.withLock { $0.append(handler) }
            onCall()
            isCalled.happen()
            return AccessTokenRetrieval { [isCancelled] in isCancelled.happen() }
        }

        func invalidate(_ rejected: AccessToken) {}
        /// Drops the handler.
        func signOut(then done: @escaping @Sendable () -> Void) {}
    }

    /// Drops every callback.
    private struct DroppingLoader: AccessTokenLoader {
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {}
        func signOut(then done: @escaping @Sendable () -> Void) {}
    }

    @Test func `a cancelled async caller's retrieval is cancelled too (X1)`() async {
        let service = SilentService()
        let caller = Task { try await AsyncServiceAdapter(of: service).token() }
        await service.isCalled.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        #expect(service.isCancelled.hasHappened)
    }

    @Test func `a caller that is cancelled while it calls is answered, and its retrieval cancelled (X1)`() async {
        let service = SilentService { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        let caller = Task { try await AsyncServiceAdapter(of: service).token() }
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        #expect(service.isCancelled.hasHappened)
    }

    @Test func `the cancellation of a callback view's retrieval is passed on, and answered`() async {
        let service = SilentService()
        let answers = Answers()
        let view = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
        view.callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        #expect(service.isCancelled.hasHappened)
    }

    @Test(.timeLimit(.minutes(10)))
    func `the cancellation of a callback view's retrieval reaches the task that waits for a service of others`() async {
        struct WaitingService: AsyncAccessTokenProviding {
            let isCancelled: Event
            func token() async throws -> AccessToken {
                await withTaskCancellationHandler {
                    await isCancelled.wait()
                } onCancel: {
                    isCancelled.happen()
                }
                throw CancellationError()
            }
            func invalidate(_ rejected: AccessToken) async {}
            func signOut() async {}
        }
        let isCancelled = Event()
        let answers = Answers()
        let view = CallbackServiceAdapter(of: WaitingService(isCancelled: isCancelled))
        view.callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        await isCancelled.wait()
    }

    /// Runs jobs when a test says so.
    private final class HeldExecutor: TaskExecutor {
        private let jobs = Locked<[UnownedJob]>([])
        var count: Int { jobs.withLock { $0.count } }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
        }

        func run() {
            while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    /// Each of them would send the same refresh token.
    @Test func `loads of an async loader that were given up before they could begin are not begun (S3)`() async {
        struct RecordingLoader: AsyncAccessTokenLoader {
            let begun: Event
            func load(replacing old: AccessToken?) async throws -> AccessToken {
                #expect(!begun.hasHappened)
                begun.happen()
                return validToken
            }
        }
        let clock = ManualClock()
        let executor = HeldExecutor()
        let begun = Event()
        let service = AccessTokenService(
            loader: CallbackLoaderAdapter(of: RecordingLoader(begun: begun), executor: executor),
            policy: AccessTokenPolicy(loadDeadline: 60),
            clock: clock
        )
        let answers = Answers()
        for number in 1...6 {
            service.callFromLegacyCode(then: answers.take)
            await yieldUntil { executor.count == number }
            if number < 6 { clock.advance(by: 60) }
        }
        executor.run()
        await yieldUntil { answers.results.count == 6 }
        #expect(begun.hasHappened)
        #expect(answers.results.prefix(5).allSatisfy { hasFailed($0, with: .loadTimedOut) })
        #expect(service.currentToken == validToken)
    }

    @Test func `repeated answers are told with the number of their load`() async throws {
        let loader = ControlledLoader()
        let events = Locked<[AccessTokenEvent]>([])
        let view = AsyncLoaderAdapter(of: loader) { event in events.withLock { $0.append(event) } }
        loader.insideLoad { load in
            load.answer(.success(validToken))
            load.answer(.success(validToken))
        }
        for _ in 1...2 { _ = try await view.load(replacing: nil) }
        // Behind both loads on the queue of the calls.
        await view.signOut()
        #expect(
            events.withLock { $0 } == [.init(.ignoredRepeatedAnswer, load: 1), .init(.ignoredRepeatedAnswer, load: 2)]
        )
    }

    @Test func `sign-out ends also where the handler is dropped`() async {
        let service = SilentService()
        await AsyncServiceAdapter(of: service).signOut()
        let isDone = Event()
        CallbackServiceAdapter(of: AsyncServiceAdapter(of: service)).signOut { isDone.happen() }
        await isDone.wait()
        await AsyncLoaderAdapter(of: DroppingLoader()).signOut()
    }

    @Test(arguments: ["the queue service itself", "the actor", "a service of others"])
    func `it is said on the handlers' queue that sign-out is done (D4)`(kind: String) async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "handlers")
        queue.setSpecific(key: key, value: true)
        let (loader, clock) = (ControlledLoader(), ManualClock())
        let actor = AsyncAccessTokenService(loader: loader, clock: clock)
        let service: any AccessTokenProviding =
            switch kind {
            case "the actor": CallbackServiceAdapter(of: actor, handlerQueue: queue)
            case "a service of others": CallbackServiceAdapter(of: PlainView(base: actor), handlerQueue: queue)
            default: AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
            }
        let wasOnQueue = Locked<Bool?>(nil)
        let isDone = Event()
        service.signOut {
            wasOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) }
            isDone.happen()
        }
        await isDone.wait()
        #expect(wasOnQueue.withLock { $0 } == true)
    }

    private struct PlainView: AsyncAccessTokenProviding {
        let base: AsyncAccessTokenService
        func token() async throws -> AccessToken { try await base.token() }
        func invalidate(_ rejected: AccessToken) async { await base.invalidate(rejected) }
        func signOut() async { await base.signOut() }
    }
}

@Suite("A loader that asks its own service, through views (R1)", .eightAtATime, .timeLimit(.minutes(10)))
struct AskingLoaderTests {
    let clock = ManualClock()

    @Test(arguments: ["actor", "queue"])
    func `is told so inside the call`(kind: String) async {
        let loader = ControlledLoader()
        let base: any AsyncAccessTokenProviding =
            kind == "actor"
            ? AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader), clock: clock)
            : AccessTokenService(loader: loader, clock: clock)
        let view = CallbackServiceAdapter(of: base)
        let (inner, answers) = (Answers(), Answers())
        loader.insideLoad { _ in view.callFromLegacyCode(then: inner.take) }
        view.callFromLegacyCode(then: answers.take)
        await inner.count(1)
        #expect(hasFailed(inner.results[0], with: .loadAskedItsOwnService))
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
    }

    @Test func `is told so in a task that the queue service's loader has started`() async {
        let loader = ControlledLoader()
        let view = CallbackServiceAdapter(
            of: AccessTokenService(loader: CallbackLoaderAdapter(of: loader), clock: clock)
        )
        let (inner, answers) = (Answers(), Answers())
        loader.duringLoad { _ in view.callFromLegacyCode(then: inner.take) }
        view.callFromLegacyCode(then: answers.take)
        await inner.count(1)
        #expect(hasFailed(inner.results[0], with: .loadAskedItsOwnService))
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
    }

    @Test func `is told so also where another service's load is between`() async {
        let (loader, other) = (ControlledLoader(), ControlledLoader())
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let view = CallbackServiceAdapter(of: AsyncAccessTokenService(loader: other, clock: clock))
        let (inner, answers) = (Answers(), Answers())
        other.duringLoad { load in
            do { load.answer(.success(try await service.token())) } catch { load.answer(.failure(error)) }
        }
        loader.duringLoad { load in
            view.callFromLegacyCode { result in
                inner.take(result)
                load.answer(result)
            }
        }
        CallbackServiceAdapter(of: service).callFromLegacyCode(then: answers.take)
        await answers.count(1)
        #expect(hasFailed(inner.results[0], with: .loadAskedItsOwnService))
    }
}

@Suite("Two queue services whose loaders ask each other (R1)", .eightAtATime, .timeLimit(.minutes(10)))
struct AskingEachOtherTests {
    @Test func `get an error, and not a deadlock`() async {
        let (loader, other, clock) = (ControlledLoader(), ControlledLoader(), ManualClock())
        let service = AccessTokenService(loader: loader, clock: clock)
        let second = AccessTokenService(loader: other, clock: clock)
        let (inner, answers) = (Answers(), Answers())
        loader.insideLoad { load in
            second.callFromLegacyCode { load.answer($0) }
        }
        other.insideLoad { load in
            service.callFromLegacyCode { result in
                inner.take(result)
                load.answer(result)
            }
        }
        service.callFromLegacyCode(then: answers.take)
        await answers.count(1)
        #expect(hasFailed(inner.results[0], with: .loadAskedItsOwnService))
        #expect(hasFailed(answers.results[0], with: .loadAskedItsOwnService))
    }
}

@Suite("Events of both services", .eightAtATime)
struct EventTests {
    @Test func `tell in order who was refreshed behind, and how long a silent load was waited for`() async throws {
        let (loader, clock) = (ControlledLoader(), ManualClock())
        let queueEvents = Locked<[AccessTokenEvent]>([])
        let actorEvents = Locked<[AccessTokenEvent]>([])
        let policy = AccessTokenPolicy(leeway: 0, refreshAhead: 100, loadDeadline: 10)
        let token = AccessToken(value: "T", expiration: clock.now.addingTimeInterval(300))
        let expected: [AccessTokenEvent] = [
            .init(.signedIn, waiters: 0), .init(.answeredFromCache), .init(.refreshAheadStarted, load: 1),
            .init(.loadTimedOut, load: 1, waiters: 0, seconds: 10), .init(.signedOut, waiters: 0),
        ]
        let answers = Answers()
        let queue = AccessTokenService(
            loader: loader,
            policy: policy,
            clock: clock,
            onEvent: { event in queueEvents.withLock { $0.append(event) } }
        )
        queue.signIn(token)
        clock.advance(by: 250)
        queue.callFromLegacyCode(then: answers.take)
        _ = await loader.started(1)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 10)
        let signedOut = Event()
        queue.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        await yieldUntil { queueEvents.withLock { $0.count } == expected.count }
        #expect(queueEvents.withLock { $0 } == expected)

        clock.setWallClock(to: clock.now.addingTimeInterval(-260))
        let executor = DispatchQueue(label: "executor")
        let key = DispatchSpecificKey<Bool>()
        executor.setSpecific(key: key, value: true)
        let wasThere = Locked(false)
        let actor = AsyncAccessTokenService(
            loader: loader,
            policy: policy,
            clock: clock,
            executor: DispatchQueueExecutor(queue: executor),
            onEvent: { event in
                actorEvents.withLock { $0.append(event) }
                if DispatchQueue.getSpecific(key: key) == true { wasThere.withLock { $0 = true } }
            }
        )
        await actor.signIn(token)
        clock.advance(by: 250)
        #expect(try await actor.token() == token)
        _ = await loader.started(2)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 10)
        await yieldUntil { actorEvents.withLock { $0.count } == expected.count - 1 }
        await actor.signOut()
        await yieldUntil { actorEvents.withLock { $0.count } == expected.count }
        #expect(actorEvents.withLock { $0 } == expected)
        #expect(!wasThere.withLock { $0 }, "a handler that blocks would hold up loads on their executor")
    }

    @Test func `tell how long a load took, from the call to the answer`() async throws {
        let (loader, clock) = (ControlledLoader(), ManualClock())
        let events = Locked<[AccessTokenEvent]>([])
        let service = AsyncAccessTokenService(loader: loader, clock: clock) { event in
            events.withLock { $0.append(event) }
        }
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        clock.advance(by: 2)
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
        await yieldUntil { events.withLock { $0.count } == 2 }
        #expect(
            events.withLock { $0 } == [
                .init(.loadStarted, load: 1), .init(.loadSucceeded, load: 1, waiters: 1, seconds: 2),
            ]
        )
    }
}
