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

/// Blocks the thread; an issue after ten minutes, for if that thread is needed for the signal, nobody else could say so.
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
            ask.withLock { $0 }()
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
        error.ask.withLock { ask in
            ask = {
                // Inside of a decision this would be the end.
                if let queue = service as? AccessTokenService { return queue.invalidate(validToken) }
                Task { await service.invalidate(validToken) }
            }
        }
        await #expect(throws: CuriousError.self) { try await service.token() }
        await isTold.wait()
        #expect(codes.value.withLock { $0 } == ["curious"])
        error.ask.withLock { $0 = {} }
    }

    // MARK: Sign-out

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

    // MARK: Priorities and events

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

    // MARK: Loaders that ask their own service (R1)

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
}
