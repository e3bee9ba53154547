import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

/// Both engines, as async services and by their adapters.
private enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case queue, actor

    var testDescription: String { "the \(rawValue) service" }

    /// The engine around an async loader.
    func make(
        _ loader: any AsyncAccessTokenLoader,
        clock: any AccessTokenClock = ManualClock(),
        handlerQueue: DispatchQueue = .global(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> any AsyncAccessTokenProviding & Sendable {
        switch self {
        case .queue:
            AccessTokenService(
                loader: CallbackLoaderAdapter(of: loader),
                clock: clock,
                handlerQueue: handlerQueue,
                onEvent: onEvent
            )
        case .actor: AsyncAccessTokenService(loader: loader, clock: clock, onEvent: onEvent)
        }
    }
}

/// A loader in a few words.
private struct Loader: AsyncAccessTokenLoader {
    var load: @Sendable () async throws -> AccessToken
    var forget: @Sendable () async -> Void = {}

    func load(replacing old: AccessToken?) async throws -> AccessToken { try await load() }
    func signOut() async { await forget() }
}

/// Something that every service can be made to report at any time.
private protocol HasEvents: Sendable {
    func makeEvent()
    func invalidateFromLegacyCode(_ rejected: AccessToken)
}

extension AccessTokenService: HasEvents {
    func makeEvent() { signIn(validToken) }
    func invalidateFromLegacyCode(_ rejected: AccessToken) { invalidate(rejected) }
}

extension AsyncAccessTokenService: HasEvents {
    nonisolated func makeEvent() { Task { await signIn(validToken) } }
    nonisolated func invalidateFromLegacyCode(_ rejected: AccessToken) { Task { await invalidate(rejected) } }
}

/// Blocks the thread; an issue after ten minutes, for if that thread is needed for the signal, no other thread could say so.
private func wait(for gate: DispatchSemaphore) {
    if gate.wait(timeout: .now() + 600) == .timedOut { Issue.record("nobody could go on beside the blocked thread") }
}

/// A value under a lock that several closures share.
private final class Box<Value: Sendable>: Sendable {
    let value: Locked<Value>
    init(_ value: Value) { self.value = Locked(value) }
}

@Suite("A service among neighbours that misbehave", .eightAtATime, .timeLimit(.minutes(10)))
struct HostileNeighbourTests {
    let clock = ManualClock()

    // MARK: Errors

    /// An error whose code asks the very service that reports it.
    private final class CuriousError: LoggableError {
        let ask = Locked<@Sendable () -> Void>({})

        var logCode: String {
            let ask = ask.withLock { $0 }
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                ask()
                isDone.signal()
            }
            wait(for: isDone)
            return "curious"
        }
    }

    @Test("is not held up by an error whose code calls the service", arguments: Engine.allCases)
    private func curiousError(engine: Engine) async {
        let error = CuriousError()
        let codes = Box<[String]>([])
        let isTold = Event()
        let service = engine.make(Loader { throw error }, clock: clock) { event in
            guard let code = event.errorCode else { return }
            codes.value.withLock { $0.append(code) }
            isTold.happen()
        }
        error.ask.withLock { $0 = { (service as? any HasEvents)?.invalidateFromLegacyCode(validToken) } }
        await #expect(throws: CuriousError.self) { try await service.token() }
        await isTold.wait()
        #expect(codes.value.withLock { $0 } == ["curious"])
        error.ask.withLock { $0 = {} }
    }

    // MARK: Sign-out

    /// An actor on a queue that the test holds: a load that was called waits there to begin.
    private actor Keychain: AsyncAccessTokenLoader {
        private let executor: DispatchQueueExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        nonisolated let user = Locked("user 1")
        nonisolated let users = Locked<[String]>([])

        init(queue: DispatchQueue) { executor = DispatchQueueExecutor(queue: queue) }

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let user = user.withLock { $0 }
            users.withLock { $0.append(user) }
            return AccessToken(value: user)
        }
    }

    @Test(arguments: Engine.allCases)
    private func `no load of the ended session begins after sign-out has returned`(_ engine: Engine) async {
        for _ in 0..<20 {
            let queue = DispatchQueue(label: "keychain")
            let keychain = Keychain(queue: queue)
            let service = engine.make(keychain)
            queue.suspend()
            let caller = Task.detached(priority: .background) { try await service.token() }
            // Signing out at any moment of the load's way to the keychain must do.
            for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
            let signingOut = Task.detached(priority: .high) {
                await service.signOut()
                keychain.user.withLock { $0 = "user 2" }
            }
            for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
            queue.resume()
            await signingOut.value
            _ = try? await caller.value
            #expect(keychain.users.withLock { $0.allSatisfy { $0 == "user 1" } })
        }
    }

    @Test func `sign-out cancels the load of the actor, and waits for it`() async {
        let (isLoading, isCancelled) = (Event(), Event())
        let order = Locked<[String]>([])
        let service = AsyncAccessTokenService(
            loader: Loader {
                isLoading.happen()
                await withTaskCancellationHandler {
                    await isCancelled.wait()
                } onCancel: {
                    isCancelled.happen()
                }
                order.withLock { $0.append(Task.isCancelled ? "the load is over" : "nobody cancelled the load") }
                throw CancellationError()
            } forget: {
                order.withLock { $0.append("the loader forgets") }
            },
            clock: clock
        )
        let caller = Task { try await service.token() }
        await isLoading.wait()
        await service.signOut()
        #expect(order.withLock { $0 } == ["the load is over", "the loader forgets"])
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
    }

    @Test(arguments: Engine.allCases)
    private func `sign-out waits for a load that cannot be cancelled until its deadline, and callers do not wait`(
        _ engine: Engine
    ) async {
        let (isLoading, mayEnd, isForgotten) = (Event(), Event(), Event())
        let service = engine.make(
            Loader {
                isLoading.happen()
                await mayEnd.wait()
                return validToken
            } forget: {
                isForgotten.happen()
            },
            clock: clock
        )
        let caller = Task { try await service.token() }
        await isLoading.wait()
        let signingOut = Task { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        #expect(!isForgotten.hasHappened)
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 60)
        await signingOut.value
        #expect(isForgotten.hasHappened)
        mayEnd.happen()
        await #expect(throws: AccessTokenError.signedOut) { try await service.token() }
    }

    @Test(arguments: Engine.allCases, [true, false])
    private func `sign-out inside a load returns at once`(_ engine: Engine, byAdapter: Bool) async {
        let reference = WeakReference<AnyService>(nil)
        let isForgotten = Event()
        let service = engine.make(
            Loader {
                await reference.object?.base.signOut()
                await reference.object?.base.signOut()
                return validToken
            } forget: {
                isForgotten.happen()
            },
            clock: clock
        )
        let other = byAdapter ? AsyncServiceAdapter(of: CallbackServiceAdapter(of: service)) : service
        let holder = AnyService(base: other)
        reference.object = holder
        await #expect(throws: AccessTokenError.signedOut) { try await other.token() }
        await isForgotten.wait()
        withExtendedLifetime(holder) {}
    }

    private final class AnyService: Sendable {
        let base: any AsyncAccessTokenProviding & Sendable
        init(base: any AsyncAccessTokenProviding & Sendable) { self.base = base }
    }

    @Test(arguments: Engine.allCases)
    private func `a task that a load left behind waits for its sign-out when the load is over`(
        _ engine: Engine
    ) async throws {
        let (isOver, mayForget) = (Event(), Event())
        let hasForgotten = Box(false)
        let leftBehind = Locked<Task<Bool, Never>?>(nil)
        let reference = WeakReference<AnyService>(nil)
        let service = engine.make(
            Loader {
                let task = Task {
                    await isOver.wait()
                    await reference.object?.base.signOut()
                    return hasForgotten.value.withLock { $0 }
                }
                leftBehind.withLock { $0 = task }
                return validToken
            } forget: {
                // Gives a sign-out that does not wait the time to return.
                for _ in 0..<100 { await Task.yield() }
                hasForgotten.value.withLock { $0 = true }
                mayForget.happen()
            },
            clock: clock
        )
        let holder = AnyService(base: service)
        reference.object = holder
        #expect(try await service.token() == validToken)
        isOver.happen()
        #expect(await leftBehind.withLock { $0 }?.value == true, "it returned before the loader had forgotten")
        await mayForget.wait()
        withExtendedLifetime(holder) {}
    }

    /// Hands its handler out, with the loads that enclosed the call.
    private final class KeptLoader: AccessTokenLoader {
        let handler = Box<(AccessTokenHandler, [LoadID])?>(nil)
        let mayForget = Box<(@Sendable () -> Void)?>(nil)
        let (isLoading, isForgetting) = (Event(), Event())

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            self.handler.value.withLock { $0 = (handler, LoadContext.currentLoads) }
            isLoading.happen()
        }

        func signOut(then done: @escaping @Sendable () -> Void) {
            mayForget.value.withLock { $0 = done }
            isForgetting.happen()
        }
    }

    /// The caller is answered in the middle of the queue service's last step of the load, and signs out there, in the name
    /// of what the load left behind.
    @Test func `a load is over for the first caller that it answers`() async throws {
        let loader = KeptLoader()
        let handlerQueue = DispatchQueue(label: "handlers")
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: handlerQueue)
        let isSignedOut = Event()
        @Sendable func signOut(_: Result<AccessToken, any Error>) {
            let enclosing = loader.handler.value.withLock { $0?.1 ?? [] }
            let context = LoadContext(loads: enclosing, priority: 0) { true }
            LoadContext.$current.withValue(context) { service.signOutFromLegacyCode { isSignedOut.happen() } }
        }
        _ = service.retrieveToken(.direct(signOut))
        await loader.isLoading.wait()
        loader.handler.value.withLock { $0 }?.0(.success(validToken))
        await loader.isForgetting.wait()
        await withCheckedContinuation { continuation in handlerQueue.async { continuation.resume() } }
        #expect(!isSignedOut.hasHappened, "it returned before the loader had forgotten")
        loader.mayForget.value.withLock { $0 }?()
        await isSignedOut.wait()
    }

    // MARK: Priorities and events

    /// Writes down the priority of each job that it is given.
    private final class WatchingExecutor: TaskExecutor {
        let priorities = Box<[TaskPriority?]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let priority = TaskPriority(job.priority)
            priorities.value.withLock { $0.append(priority) }
            let job = UnownedJob(job)
            DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test func `nothing on the way from a caller of high priority to the loader has a lower one`() async throws {
        let executor = WatchingExecutor()
        let atLoader = Box<[TaskPriority?]>([])
        let service = AsyncAccessTokenService(
            loader: Loader {
                atLoader.value.withLock { $0 = executor.priorities.value.withLock { $0 } }
                return validToken
            },
            clock: clock,
            executor: executor
        )
        _ = try await Task.detached(priority: .high) { try await service.token() }.value
        let priorities = atLoader.value.withLock { $0 }
        #expect(!priorities.isEmpty)
        #expect(priorities.allSatisfy { $0 == .high }, "\(priorities)")
    }

    @Test(arguments: Engine.allCases)
    private func `an event handler that blocks holds up no load, no answer and no deadline`(
        _ engine: Engine
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let isBlocked = Event()
        let mayAnswer = Locked(true)
        let isSilent = Event()
        let service = engine.make(
            Loader {
                if mayAnswer.withLock({ $0 }) { return validToken }
                isSilent.happen()
                await staySilent()
                return validToken
            },
            clock: clock,
            onEvent: { _ in
                isBlocked.happen()
                wait(for: gate)
            }
        )
        // The events of all tests are delivered on the thread that is blocked here.
        defer { for _ in 0..<100 { gate.signal() } }
        #expect(try await service.token() == validToken)
        await isBlocked.wait()
        await service.invalidate(validToken)
        #expect(try await service.token() == validToken)
        await service.invalidate(validToken)
        mayAnswer.withLock { $0 = false }
        // The deadlines of the loads before are gone: the one that comes is the last one's.
        await yieldUntil { clock.pendingTimers == 0 }
        let caller = Task { try await service.token() }
        await isSilent.wait()
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
    }

    /// More than the pool of tasks or Dispatch have threads.
    @Test(arguments: Engine.allCases)
    private func `a hundred event handlers that block hold up nobody`(_ engine: Engine) async throws {
        let gate = DispatchSemaphore(value: 0)
        let isBlocked = Event()
        let services = (0..<100).map { _ in
            engine.make(Loader { validToken }, clock: clock) { _ in
                isBlocked.happen()
                wait(for: gate)
            }
        }
        defer { for _ in 0..<1000 { gate.signal() } }
        for service in services { #expect(try await service.token() == validToken) }
        await isBlocked.wait()
        for service in services { await service.invalidate(validToken) }
        for service in services { #expect(try await service.token() == validToken) }
    }

    @Test(arguments: Engine.allCases)
    private func `a service whose events never end leaves others their turn`(_ engine: Engine) async throws {
        let (isTold, hasEnded) = (Event(), Event())
        let reference = WeakReference<AnyService>(nil)
        let rounds = Box(0)
        // Each event of its makes it another one.
        let chatty = engine.make(Loader { validToken }, clock: clock) { _ in
            let round = rounds.value.withLock { rounds in
                rounds += 1
                return rounds
            }
            guard !isTold.hasHappened, round < 100_000 else { return hasEnded.happen() }
            (reference.object?.base as? any HasEvents)?.makeEvent()
        }
        let holder = AnyService(base: chatty)
        reference.object = holder
        #expect(try await chatty.token() == validToken)
        let other = engine.make(Loader { validToken }, clock: clock) { _ in isTold.happen() }
        #expect(try await other.token() == validToken)
        await hasEnded.wait()
        #expect(isTold.hasHappened)
        withExtendedLifetime(holder) {}
    }

    // MARK: Loaders that ask their own service (R1)

    /// A service of an app's own around one of ours, which is not known as one of ours.
    private final class Wrapper: AccessTokenProviding {
        let base: AccessTokenService
        init(base: AccessTokenService) { self.base = base }
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            base.callFromLegacyCode(then: handler)
        }
        func invalidate(_ rejected: AccessToken) { base.invalidate(rejected) }
        func signOut(then done: @escaping @Sendable () -> Void) { base.signOutFromLegacyCode(then: done) }
    }

    enum Asking: CaseIterable {
        case directly, byAnAdapterOverAWrapper, byCallbacks
    }

    @Test(arguments: Asking.allCases)
    func `an async loader that asks the queue service gets an error, whichever way it asks (R1)`(
        _ asking: Asking
    ) async throws {
        let reference = WeakReference<AccessTokenService>(nil)
        let service = AccessTokenService(
            loader: CallbackLoaderAdapter(
                of: Loader {
                    guard let service = reference.object else { return validToken }
                    switch asking {
                    case .directly: return try await service.token()
                    case .byAnAdapterOverAWrapper:
                        return try await AsyncServiceAdapter(of: Wrapper(base: service)).token()
                    case .byCallbacks:
                        return try await withCheckedThrowingContinuation { continuation in
                            service.callFromLegacyCode { continuation.resume(with: $0) }
                        }
                    }
                }
            ),
            clock: clock
        )
        reference.object = service
        await #expect(throws: AccessTokenError.loadAskedItsOwnService) { try await service.token() }
    }

    @Test func `a service is never taken for one that had its address before (R1)`() async throws {
        for _ in 0..<200 {
            let (isOver, mayAsk) = (Event(), Event())
            let next = Box<AsyncAccessTokenService?>(nil)
            let leftBehind = Locked<Task<AccessToken?, any Error>?>(nil)
            do {
                let service = AsyncAccessTokenService(
                    loader: Loader {
                        let task = Task { () -> AccessToken? in
                            await mayAsk.wait()
                            return try await next.value.withLock { $0 }?.token()
                        }
                        leftBehind.withLock { $0 = task }
                        return validToken
                    },
                    clock: clock
                )
                _ = try await service.token()
            }
            let isLoading = Event()
            next.value.withLock { next in
                next = AsyncAccessTokenService(
                    loader: Loader {
                        isLoading.happen()
                        await isOver.wait()
                        return validToken
                    },
                    clock: clock
                )
            }
            let service = next.value.withLock { $0 }
            let caller = Task { try await service?.token() }
            await isLoading.wait()
            mayAsk.happen()
            isOver.happen()
            #expect(try await leftBehind.withLock { $0 }?.value == validToken)
            #expect(try await caller.valueInTime == validToken)
        }
    }

    // MARK: Queues that are blocked

    @Test(arguments: [true, false])
    func `an async caller of the queue service does not wait for the handlers' queue`(isCancelled: Bool) async throws {
        let handlerQueue = DispatchQueue(label: "handlers")
        handlerQueue.suspend()
        defer { handlerQueue.resume() }
        let service = AccessTokenService(
            loader: CallbackLoaderAdapter(of: Loader { validToken }),
            clock: clock,
            handlerQueue: handlerQueue
        )
        let caller = Task {
            if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            return try await service.token()
        }
        if isCancelled {
            await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        } else {
            #expect(try await caller.valueInTime == validToken)
        }
        await service.signOut()
    }

    // MARK: Services of others

    /// Answers a cancelled call with an error of its own, before `cancel` returns.
    private final class EagerService: AccessTokenProviding {
        struct GaveUp: Error {}
        let isCalled = Event()

        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            isCalled.happen()
            return AccessTokenRetrieval { handler(.failure(GaveUp())) }
        }
        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    @Test func `a cancelled caller gets CancellationError, whatever a service of others says to that (X1)`() async {
        let foreign = EagerService()
        let caller = Task { try await AsyncServiceAdapter(of: foreign).token() }
        await foreign.isCalled.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }

        let answers = Answers()
        CallbackServiceAdapter(of: AsyncServiceAdapter(of: foreign)).callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        #expect(throws: CancellationError.self) { try answers.results[0].get() }
    }

    @Test func `a caller that is cancelled already does not reach a service of others (X3)`() async {
        let foreign = EagerService()
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await AsyncServiceAdapter(of: foreign).token()
        }
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        #expect(!foreign.isCalled.hasHappened)
    }

    /// An actor that writes down what reaches it.
    private actor WrittenDown: AsyncAccessTokenProviding {
        nonisolated let calls = Locked<[String]>([])
        func token() async throws -> AccessToken {
            calls.withLock { $0.append("token") }
            return validToken
        }
        func invalidate(_ rejected: AccessToken) async { calls.withLock { $0.append("invalidate") } }
        func signOut() async { calls.withLock { $0.append("signOut") } }
    }

    @Test func `calls reach a service of others in their order, whatever their priorities`() async {
        for _ in 0..<50 {
            let foreign = WrittenDown()
            let adapter = CallbackServiceAdapter(of: foreign)
            let isDone = Event()
            await Task.detached(priority: .background) { _ = adapter.callFromLegacyCode { _ in } }.value
            await Task.detached(priority: .low) { adapter.invalidate(validToken) }.value
            await Task.detached(priority: .high) { adapter.signOutFromLegacyCode { isDone.happen() } }.value
            await isDone.wait()
            await yieldUntil { foreign.calls.withLock { $0.count } == 3 }
            #expect(foreign.calls.withLock { $0 } == ["token", "invalidate", "signOut"])
        }
    }
}
