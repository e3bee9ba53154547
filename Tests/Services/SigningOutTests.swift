import AccessTokenContract
import AccessTokenSynchronization
import TestSupport
import Testing

@Suite("Signing out", .takesTurns, .endsHangs)
struct SigningOutTests {
    let clock = ManualClock()

    enum World: CaseIterable {
        case async, callback
    }

    @Test(arguments: Stack.allCases, World.allCases)
    func `ends when the loader has forgotten the session, and not before`(_ stack: Stack, _ world: World) async {
        let (isForgetting, mayForget, isDone) = (Event(), Event(), Event())
        let order = Locked<[String]>([])
        let loader = Loader {
            validToken
        } forget: {
            isForgetting.happen()
            await mayForget.wait()
            order.withLock { $0.append("forgotten") }
        }
        let doors = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy())
        let done: @Sendable () -> Void = {
            order.withLock { $0.append("done") }
            isDone.happen()
        }
        switch world {
        case .async:
            Task {
                await doors.async.signOut()
                done()
            }
        case .callback: doors.callback.signOut(then: done)
        }
        await isForgetting.wait()
        // A service that does not wait for its loader is done by now, or soon.
        for _ in 0..<5 { await Task.yield() }
        mayForget.happen()
        await isDone.wait()
        #expect(order.withLock { $0 } == ["forgotten", "done"])
    }

    /// Hands calls on, as a loader does that stores, and tries once more after a failure.
    private struct OuterLoader: AccessTokenLoader {
        let base: any AccessTokenLoader

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            base.load(replacing: old) { [base] result in
                if case .success = result { return handler(result) }
                base.load(replacing: old, then: handler)
            }
        }
    }

    @Test func `cancels the load of its service, also behind another loader`() async throws {
        let loader = ControlledLoader()
        let service = AccessTokenService(loader: OuterLoader(base: CallbackLoaderAdapter(of: loader)), clock: clock)
        service.callFromLegacyCode { _ in }
        await loader.started(1)?.answer(.failure(CancellationError()))
        _ = await loader.started(2)
        // A sign-out waits for the load, which ends by its cancellation only.
        try await Task<Void, any Error> { await service.signOut() }.valueInTime
    }

    @Test func `cancels no load that another service has of the same loader`() async throws {
        let loader = ControlledLoader()
        let shared = CallbackLoaderAdapter(of: loader)
        let service = AccessTokenService(loader: shared, clock: clock)
        let neighbour = AccessTokenService(loader: shared, clock: clock)
        service.callFromLegacyCode { _ in }
        _ = await loader.started(1)
        let caller = Task { try await neighbour.token() }
        let load = await loader.started(2)
        try await Task<Void, any Error> { await service.signOut() }.valueInTime
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
    }

    // MARK: Loads that it meets

    /// A load that ends when a test says so, also if it is cancelled.
    private struct StubbornLoad {
        let isRunning = Event()
        let isCancelled = Event()
        let mayEnd = Event()
        let isForgotten = Event()

        var loader: Loader {
            Loader { [isRunning, isCancelled, mayEnd] in
                isRunning.happen()
                await withTaskCancellationHandler {
                    await mayEnd.wait()
                } onCancel: {
                    isCancelled.happen()
                }
                return validToken
            } forget: { [isForgotten] in
                isForgotten.happen()
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `sign-out cancels the load that is running`(_ engine: Engine) async {
        let load = StubbornLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        let signingOut = Task { await service.signOut() }
        await load.isCancelled.wait()
        load.mayEnd.happen()
        await signingOut.value
        _ = await caller.result
    }

    @Test(arguments: Engine.allCases)
    func `callers do not wait for the load that a sign-out waits for`(_ engine: Engine) async {
        let load = StubbornLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        let signingOut = Task { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        load.mayEnd.happen()
        await signingOut.value
    }

    @Test(arguments: Engine.allCases)
    func `a loader forgets the session when its load has ended, and not before`(_ engine: Engine) async {
        let load = StubbornLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        let signingOut = Task { await service.signOut() }
        // The load is cancelled after the callers have their answers.
        await load.isCancelled.wait()
        for _ in 0..<5 { await Task.yield() }
        #expect(!load.isForgotten.hasHappened)
        load.mayEnd.happen()
        await load.isForgotten.wait()
        await signingOut.value
        _ = await caller.result
    }

    @Test(arguments: Engine.allCases)
    func `a loader forgets the session at the deadline of a load that does not end`(_ engine: Engine) async {
        let load = StubbornLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        let signingOut = Task { await service.signOut() }
        await load.isCancelled.wait()
        clock.advance(by: 60)
        await load.isForgotten.wait()
        await signingOut.value
        load.mayEnd.happen()
        _ = await caller.result
    }

    @Test(arguments: Engine.allCases)
    func `a load that a sign-out met leaves no timer`(_ engine: Engine) async {
        let load = CancellableLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        await service.signOut()
        await yieldUntil { clock.pendingTimers == 0 }
        _ = await caller.result
    }

    /// A load that lasts until its task is cancelled, and brings a token then.
    private struct CancellableLoad {
        let isRunning = Event()
        let isCancelled = Event()

        var loader: Loader {
            Loader { [isRunning, isCancelled] in
                isRunning.happen()
                await withTaskCancellationHandler {
                    await isCancelled.wait()
                } onCancel: {
                    isCancelled.happen()
                }
                return validToken
            }
        }
    }

    @TaskLocal private static var isSigningOut = false

    /// The app may sign out inside of a lock that the loader needs when it is cancelled.
    @Test(arguments: [Stack.queueAsyncLoader, .actor])
    func `sign-out cancels a load on another thread than the caller's`(_ stack: Stack) async {
        let load = StubbornLoad()
        let wasInside = Locked<Bool?>(nil)
        let loader = Loader {
            try await withTaskCancellationHandler {
                try await load.loader.load()
            } onCancel: {
                wasInside.withLock { $0 = Self.isSigningOut }
            }
        }
        let doors = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy())
        doors.callback.callFromLegacyCode { _ in }
        await load.isRunning.wait()
        await onThreadOfItsOwn {
            Self.$isSigningOut.withValue(true) { doors.callback.signOutFromLegacyCode {} }
        }
        await load.isCancelled.wait()
        load.mayEnd.happen()
        await yieldUntil { wasInside.withLock { $0 } != nil }
        #expect(wasInside.withLock { $0 } == false)
    }

    @Test(arguments: Engine.allCases)
    func `sign-out cancels a load of an earlier session as well`(_ engine: Engine) async throws {
        let load = CancellableLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        await service.beginSession(with: validToken)
        #expect(try await caller.valueInTime == validToken)
        try await Task<Void, any Error> { await service.signOut() }.valueInTime
        #expect(load.isCancelled.hasHappened)
    }

    @Test(arguments: Engine.allCases)
    func `sign-out cancels a load that is past its deadline`(_ engine: Engine) async {
        let load = CancellableLoad()
        let service = engine.make(load.loader, clock: clock)
        let caller = Task { try await service.token() }
        await load.isRunning.wait()
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        await service.signOut()
        await load.isCancelled.wait()
    }

    private struct ForgetfulLoader: AccessTokenLoader {
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handler(.success(validToken))
        }
        func signOut(then done: @escaping @Sendable () -> Void) {}
    }

    @Test func `a loader that drops the end of a sign-out keeps no timer, and so no service`() async {
        let isDone = Event()
        var service: AccessTokenService? = AccessTokenService(loader: ForgetfulLoader(), clock: clock)
        let reference = WeakReference(service)
        service?.signOutFromLegacyCode { isDone.happen() }
        await isDone.wait()
        service = nil
        await yieldUntil { reference.object == nil }
        #expect(clock.pendingTimers == 0)
    }

    @Test(arguments: Engine.allCases)
    func `sign-out does not wait for a load of the next session`(_ engine: Engine) async throws {
        let (isLoading, mayEnd) = ([Event(), Event()], [Event(), Event()])
        let service = engine.make(
            Loader {
                let load = isLoading[0].hasHappened ? 1 : 0
                isLoading[load].happen()
                await mayEnd[load].wait()
                return validToken
            },
            clock: clock
        )
        let former = Task { try await service.token() }
        await isLoading[0].wait()
        let signingOut = Task<Void, any Error> { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await former.valueInTime }
        await service.beginSession()
        let caller = Task { try await service.token() }
        await isLoading[1].wait()
        mayEnd[0].happen()
        await #expect(throws: Never.self) { try await signingOut.valueInTime }
        mayEnd[1].happen()
        #expect(try await caller.valueInTime == validToken)
    }

    /// What a loader signs out by while it loads.
    enum Door: CaseIterable {
        case service, adapter, orderedCallOfAdapter
    }

    @Test(arguments: Engine.allCases, Door.allCases)
    func `sign-out inside a load returns at once`(_ engine: Engine, by door: Door) async {
        let signOut = Locked<(@Sendable () async -> Void)?>(nil)
        let isForgotten = Event()
        let service = engine.make(
            Loader {
                for _ in 1...2 { await signOut.withLock { $0 }?() }
                return validToken
            } forget: {
                isForgotten.happen()
            },
            clock: clock
        )
        let view = CallbackServiceAdapter(of: service)
        signOut.withLock { signOut in
            signOut = {
                switch door {
                case .service:
                    await service.signOut()
                case .adapter:
                    await withCheckedContinuation { continuation in view.signOut { continuation.resume() } }
                case .orderedCallOfAdapter:
                    await withCheckedContinuation { continuation in
                        view.callInOrder {
                            await service.signOut()
                            continuation.resume()
                        }
                    }
                }
            }
        }
        await #expect(throws: AccessTokenError.signedOut) { try await service.token() }
        await isForgotten.wait()
        signOut.withLock { $0 = nil }
    }

    @Test(arguments: Engine.allCases)
    func `a sign-out inside a load ends no session that has begun since`(_ engine: Engine) async throws {
        let signOut = Locked<(@Sendable () async -> Void)?>(nil)
        let (isLoading, mayGoOn) = (Event(), Event())
        let timesForgotten = Locked(0)
        let events = Locked<[AccessTokenEvent.Kind]>([])
        let loader = Loader {
            // Only the first load, of the former session.
            guard let signOut = signOut.withLock({ $0.take() }) else { return validToken }
            isLoading.happen()
            await mayGoOn.wait()
            await signOut()
            throw AccessTokenError.signedOut
        } forget: {
            timesForgotten.withLock { $0 += 1 }
        }
        let service = engine.make(loader, clock: clock) { event in events.withLock { $0.append(event.kind) } }
        signOut.withLock { $0 = { await service.signOut() } }
        let caller = Task { try await service.token() }
        await isLoading.wait()
        await service.beginSession()
        // The caller waits for the load of the new session, which begins when the former load has ended (O8, O9).
        mayGoOn.happen()
        #expect(try await caller.valueInTime == validToken)
        #expect(try await service.token() == validToken)
        #expect(timesForgotten.withLock { $0 } == 0)
        #expect(!events.withLock { $0.contains(.signedOut) })
    }

    @Test(arguments: Engine.allCases)
    func `a loader that signs out while it forgets the session is told once to forget it`(_ engine: Engine) async {
        let inside = Locked<(any AsyncAccessTokenProviding)?>(nil)
        let timesForgotten = Locked(0)
        let signOuts = Locked<[Task<Void, Never>]>([])
        let timesSignedOut = Locked(0)
        // The sign-out inside the forgetting of each session has reached the service.
        let hasJoined = [Event(), Event()]
        let loader = Loader {
            validToken
        } forget: {
            let time = timesForgotten.withLock { times in
                times += 1
                return times
            }
            // With a service that starts another forgetting, this would go on for ever.
            guard time <= hasJoined.count else { return }
            let service = inside.withLock { $0 }
            signOuts.withLock { signOuts in signOuts.append(Task { await service?.signOut() }) }
            await hasJoined[time - 1].wait()
        }
        let service = engine.make(loader, clock: clock) { event in
            guard event.kind == .signedOut else { return }
            let times = timesSignedOut.withLock { times in
                times += 1
                return times
            }
            if times % 2 == 0, times / 2 <= hasJoined.count { hasJoined[times / 2 - 1].happen() }
        }
        inside.withLock { $0 = service }
        for session in 1...2 {
            await service.signOut()
            for signOut in signOuts.withLock({ $0 }) { await signOut.value }
            #expect(timesForgotten.withLock { $0 } == session)
            await service.beginSession()
        }
        inside.withLock { $0 = nil }
    }

    @Test(arguments: Engine.allCases)
    func `a task that a load left behind waits for its sign-out when the load is over`(_ engine: Engine) async throws {
        let (isOver, isForgotten) = (Event(), Event())
        let leftBehind = Locked<Task<Bool, Never>?>(nil)
        let inside = Locked<(any AsyncAccessTokenProviding)?>(nil)
        let service = engine.make(
            Loader {
                let service = inside.withLock { $0 }
                let task = Task {
                    await isOver.wait()
                    await service?.signOut()
                    return isForgotten.hasHappened
                }
                leftBehind.withLock { $0 = task }
                return validToken
            } forget: {
                // Gives a sign-out that does not wait the time to return.
                for _ in 0..<100 { await Task.yield() }
                isForgotten.happen()
            },
            clock: clock
        )
        inside.withLock { $0 = service }
        #expect(try await service.token() == validToken)
        isOver.happen()
        #expect(await leftBehind.withLock { $0 }?.value == true, "it returned before the loader had forgotten")
        inside.withLock { $0 = nil }
    }

    /// A service whose loader forgets no session before a test says so.
    private struct UnansweredSignOut {
        let isForgetting = Event()
        let mayForget = Event()
        let isReported = Event()
        let service: any AsyncAccessTokenProviding

        init(_ engine: Engine, clock: ManualClock) {
            let loader = Loader {
                validToken
            } forget: { [isForgetting, mayForget] in
                isForgetting.happen()
                await mayForget.wait()
            }
            service = engine.make(loader, policy: AccessTokenPolicy(loadDeadline: 60), clock: clock) {
                [isReported] event in
                if event.kind == .signOutTimedOut { isReported.happen() }
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a sign-out that the loader does not answer is done at the load's deadline, and not before`(
        _ engine: Engine
    ) async {
        let unanswered = UnansweredSignOut(engine, clock: clock)
        let isSignedOut = Event()
        let signOut = Task {
            await unanswered.service.signOut()
            isSignedOut.happen()
        }
        await unanswered.isForgetting.wait()
        clock.advance(by: 59)
        // The timer of the deadline has not fired.
        #expect(clock.pendingTimers == 1 && !isSignedOut.hasHappened)
        clock.advance(by: 1)
        await signOut.value
        unanswered.mayForget.happen()
    }

    @Test(arguments: Engine.allCases)
    func `a sign-out that the loader does not answer is reported`(_ engine: Engine) async {
        let unanswered = UnansweredSignOut(engine, clock: clock)
        let signOut = Task { await unanswered.service.signOut() }
        await unanswered.isForgetting.wait()
        clock.advance(by: 60)
        await unanswered.isReported.wait()
        unanswered.mayForget.happen()
        await signOut.value
    }

    @Test(arguments: Engine.allCases)
    func `a sign-out that the loader does not answer leaves no timer`(_ engine: Engine) async {
        let unanswered = UnansweredSignOut(engine, clock: clock)
        let signOut = Task { await unanswered.service.signOut() }
        await unanswered.isForgetting.wait()
        clock.advance(by: 60)
        await signOut.value
        unanswered.mayForget.happen()
        await yieldUntil { clock.pendingTimers == 0 }
    }

    /// While a load runs, callers join those who wait without a decision; a sign-out ends that, and not the load's end.
    @Test(arguments: Engine.allCases)
    func `a caller after a sign-out does not wait, while the load goes on`(_ engine: Engine) async throws {
        let (isLoading, mayEnd) = (Event(), Event())
        let service = engine.make(
            Loader {
                isLoading.happen()
                await mayEnd.wait()
                return validToken
            },
            clock: clock
        )
        let waiter = Task { try await service.token() }
        await isLoading.wait()
        let signOut = Task { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await waiter.valueInTime }
        let caller = Task { try await service.token() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        mayEnd.happen()
        try await Task<Void, any Error> { await signOut.value }.valueInTime
    }
}
