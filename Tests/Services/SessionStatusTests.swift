import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import Observation
import TestSupport
import Testing

@testable import AccessTokenCore

/// What both services tell of their session; the decisions are those of ``SessionStatusTableTests``.
@Suite("A session that is shown", .takesTurns, .endsHangs)
struct SessionStatusTests {
    private struct Ended: LoginNeedingError {
        var needsLogin: Bool { true }
    }

    private let clock = ManualClock()
    private var token: AccessToken { AccessToken(value: "token", expiration: clock.now + 3_600) }

    private func service(
        _ engine: Engine,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil,
        load: @escaping @Sendable () async throws -> AccessToken
    ) throws -> any AsyncAccessTokenProviding & SessionShowing {
        let service = engine.make(Loader(load: load), clock: clock, onEvent: onEvent)
        return try #require(service as? any AsyncAccessTokenProviding & SessionShowing)
    }

    // MARK: The stream

    @Test(arguments: Engine.allCases)
    func `is streamed: the present status, and each other one`(_ engine: Engine) async throws {
        let service = try service(engine) { [token] in token }
        var statuses = service.stream { $0.status }.makeAsyncIterator()
        #expect(await statuses.next() == .unknown)
        #expect(try await service.token() == token)
        #expect(await statuses.next() == .signedIn)
        clock.advance(by: 3_600)
        #expect(await statuses.next() == .expired)
        await service.signOut()
        #expect(await statuses.next() == .signedOut)
        await service.beginSession(with: token)
        #expect(await statuses.next() == .signedIn)
    }

    @Test(arguments: Engine.allCases)
    func `is streamed until the service is no more, and the stream does not keep it`(_ engine: Engine) async throws {
        var statuses: AsyncStream<SessionStatus>.Iterator?
        weak var gone: (any SessionShowing)?
        do {
            let service = try service(engine) { [token] in token }
            gone = service
            statuses = service.stream { $0.status }.makeAsyncIterator()
            #expect(await statuses?.next() == .unknown)
        }
        #expect(await statuses?.next() == nil)
        #expect(gone == nil)
    }

    @Test(arguments: Engine.allCases)
    func `is streamed to whoever listens, and nothing is kept of a stream that is over`(_ engine: Engine) async throws {
        let service = try service(engine) { [token] in token }
        let kept = WeakReference<Kept>(nil)
        let loop = Task {
            let value = Kept()
            kept.object = value
            let statuses = service.stream { view in
                _ = value
                return view.status
            }
            for await _ in statuses {}
        }
        var statuses = service.stream { $0.status }.makeAsyncIterator()
        await service.beginSession(with: token)
        while await statuses.next() != .signedIn {}
        loop.cancel()
        await loop.value
        await yieldUntil { kept.object == nil }
        await service.signOut()
        #expect(await statuses.next() == .signedOut)
    }

    private final class Kept: Sendable {}

    @Test func `is told again if it changes while an observer is told`() async throws {
        let service = try service(.actor) { [token] in token }
        let views = Locked(0)
        let watch = Locked<SessionWatch?>(nil)
        watch.withLock { made in
            made = SessionWatch(of: service) { _ in
                let isFirst = views.withLock { views in
                    views += 1
                    return views == 1
                }
                if isFirst { watch.withLock { $0 }?.signal() }
            } onEnd: {
            }
        }
        watch.withLock { $0 }?.signal()
        await yieldUntil { views.withLock { $0 } == 2 }
        _ = watch.withLock { $0.take() }
    }

    @Test func `has one timer for an observer, however often it changes`() async throws {
        let service = try service(.actor) { [token] in token }
        let views = Locked(0)
        let watch = SessionWatch(of: service) { _ in
            views.withLock { $0 += 1 }
        } onEnd: {
        }
        service.add(watch)
        for number in 1...4 {
            await service.beginSession(with: token)
            await yieldUntil { views.withLock { $0 } >= number }
        }
        // The next timer is set before the former one is canceled.
        #expect(clock.pendingTimers <= 2)
        service.remove(watch)
    }

    /// A clock that is moved fires no timer that is set afterwards.
    @Test func `has the timer of a view before an observer is told of the view`() async throws {
        let service = try service(.actor) { [token] in token }
        let timers = Locked<Int?>(nil)
        let isTold = Event()
        let watch = SessionWatch(of: service) { [clock] view in
            guard view.status == .signedIn else { return }
            timers.withLock { $0 = clock.pendingTimers }
            isTold.happen()
        } onEnd: {
        }
        service.add(watch)
        await service.beginSession(with: token)
        await isTold.wait()
        #expect(timers.withLock { $0 } == 1)
        service.remove(watch)
    }

    // MARK: The end by the server

    @Test(arguments: Engine.allCases)
    func `that the server ends is one event, whatever many callers are told`(_ engine: Engine) async throws {
        let kinds = Locked<[AccessTokenEvent.Kind]>([])
        let isThere = Event()
        let service = try service(engine) { event in
            kinds.withLock { $0.append(event.kind) }
            if event.kind == .loginNeeded { isThere.happen() }
        } load: {
            throw Ended()
        }
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { await #expect(throws: Ended.self) { try await service.token() } }
            }
        }
        await isThere.wait()
        #expect(kinds.withLock { $0 }.filter { $0 == .loginNeeded }.count == 1)
        #expect(service.view.status == .needsLogin)
    }

    // MARK: A view

    @MainActor private func observe(until condition: @MainActor () -> Bool) async {
        while true {
            let isChanging = Event()
            let holds = withObservationTracking(condition) { isChanging.happen() }
            if holds { return }
            await isChanging.wait()
        }
    }

    @Test(arguments: Engine.allCases)
    @MainActor func `is observed by a view, from the launch to the end of the session`(_ engine: Engine) async throws {
        let stored = Locked<StoredSession?>(StoredSession(token: token, subject: "Ann"))
        let service = try service(engine) { throw Ended() }
        let session = ObservedSession(showing: service) { stored.withLock { $0 } }
        #expect(session.status == .unknown)
        await observe { session.status == .signedIn && session.subject == "Ann" }
        // Another user signs in, in another process.
        stored.withLock { $0 = StoredSession(token: AccessToken(value: "other"), subject: "Bob") }
        await session.look()
        #expect(session.status == .signedIn && session.subject == "Bob")
        // Another process signs out.
        stored.withLock { $0 = nil }
        await session.look()
        #expect(session.status == .signedOut && session.subject == nil)
        // The user signs in here.
        stored.withLock { $0 = StoredSession(token: token, subject: "Cid") }
        await service.beginSession(with: token)
        await observe { session.status == .signedIn && session.subject == "Cid" }
        // Another user does so at once.
        stored.withLock { $0 = StoredSession(token: token, subject: "Dan") }
        await service.beginSession(with: token)
        await observe { session.subject == "Dan" }
        // The server ends the session.
        await service.invalidate(token)
        await #expect(throws: Ended.self) { try await service.token() }
        await observe { session.status == .needsLogin }
    }

    @Test @MainActor func `that cannot be looked at says why, and stays as it was`() async throws {
        struct Unreadable: Error {}
        let isReadable = Locked(false)
        let service = try service(.actor) { [token] in token }
        let session = ObservedSession(showing: service) {
            guard isReadable.withLock({ $0 }) else { throw Unreadable() }
            return StoredSession()
        }
        await observe { session.failure is Unreadable }
        #expect(session.status == .unknown)
        isReadable.withLock { $0 = true }
        await session.look()
        #expect(session.failure == nil)
        #expect(session.status == .expired)
    }

    @Test @MainActor func `says nothing of a failed look that began before one that succeeded`() async throws {
        struct Unreadable: Error {}
        let (isLooking, mayFail) = (Event(), Event())
        let looks = Locked(0)
        let service = try service(.queue) { [token] in token }
        let session = ObservedSession(showing: service) {
            let isFirst = looks.withLock { looks in
                looks += 1
                return looks == 1
            }
            guard isFirst else { return StoredSession() }
            isLooking.happen()
            await mayFail.wait()
            throw Unreadable()
        }
        let first = Task { await session.look() }
        await isLooking.wait()
        await session.look()
        mayFail.happen()
        await first.value
        #expect(session.failure == nil)
    }

    @Test @MainActor func `whose view has gone in the middle of a look is no failure`() async throws {
        let service = try service(.queue) { [token] in token }
        let session = ObservedSession(showing: service) { throw CancellationError() }
        await session.look()
        #expect(session.failure == nil && session.status == .unknown)
    }

    /// What was read is older than the session that the service has begun.
    @Test(arguments: Engine.allCases)
    func `that changes during a look is looked at once more`(_ engine: Engine) async throws {
        let service = try service(engine) { [token] in token }
        let looks = Locked(0)
        try await service.lookAtStore { [token] in
            let count = looks.withLock { count in
                count += 1
                return count
            }
            guard count == 1 else { return StoredSession(token: token, subject: "Ann") }
            await service.beginSession(with: token)
            return nil
        }
        #expect(looks.withLock { $0 } == 2)
        #expect(service.view.status == .signedIn && service.view.subject == "Ann")
    }

    /// Otherwise looks at one moment would throw one another out, and the newest would not count in the end.
    @Test(arguments: Engine.allCases)
    func `that others look at meanwhile, without finding anything new, is looked at once`(_ engine: Engine) async throws
    {
        let service = try service(engine) { [token] in token }
        await service.beginSession(with: token)
        let known = StoredSession(token: token, subject: "Ann")
        try await service.lookAtStore { known }
        let looks = Locked(0)
        try await service.lookAtStore {
            looks.withLock { $0 += 1 }
            try await service.lookAtStore { known }
            // Another process signs out meanwhile.
            return nil
        }
        #expect(looks.withLock { $0 } == 1)
        #expect(service.view.status == .signedOut)
    }

    /// A load that was begun for one user, a caller that waits for it, and a look that finds another user meanwhile.
    private func loadForFormerUser(
        of engine: Engine,
        _ loader: ControlledLoader,
        finding token: AccessToken
    ) async throws -> (ControlledLoad?, Task<AccessToken, any Error>, any SessionShowing) {
        let service = engine.make(loader, clock: clock)
        let shown = try #require(service as? any SessionShowing)
        try await shown.lookAtStore { StoredSession(token: AccessToken(value: "Ann's"), subject: "Ann") }
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        try await shown.lookAtStore { StoredSession(token: token, subject: "Bob") }
        return (load, caller, shown)
    }

    @Test(arguments: Engine.allCases)
    func `of another user hands out no token that a load brings for the former one`(_ engine: Engine) async throws {
        let (loader, bob) = (ControlledLoader(), AccessToken(value: "Bob's"))
        let (load, caller, shown) = try await loadForFormerUser(of: engine, loader, finding: bob)
        load?.answer(.success(AccessToken(value: "Ann's second")))
        await loader.started(2)?.answer(.success(bob))
        #expect(try await caller.valueInTime == bob)
        #expect(shown.view.subject == "Bob")
    }

    @Test(arguments: Engine.allCases)
    func `of another user whose token a load brings that runs already needs no other load`(_ engine: Engine)
        async throws
    {
        let (loader, bob) = (ControlledLoader(), AccessToken(value: "Bob's"))
        let (load, caller, _) = try await loadForFormerUser(of: engine, loader, finding: bob)
        load?.answer(.success(bob))
        #expect(try await caller.valueInTime == bob)
        #expect(loader.loads.count == 1)
    }

    /// Another process has renewed the session between the looks.
    @Test(arguments: Engine.allCases)
    func `of another user is looked at twice, and a load brings what was found last`(_ engine: Engine) async throws {
        let (loader, second) = (ControlledLoader(), AccessToken(value: "Bob's second"))
        let (load, caller, shown) = try await loadForFormerUser(of: engine, loader, finding: validToken)
        try await shown.lookAtStore { StoredSession(token: second, subject: "Bob") }
        load?.answer(.success(second))
        #expect(try await caller.valueInTime == second)
        #expect(loader.loads.count == 1)
    }

    @Test(arguments: Engine.allCases)
    func `that another process has ended stays so when a late answer comes`(_ engine: Engine) async throws {
        let (loader, hasAnswered) = (ControlledLoader(), Event())
        let service = engine.make(loader, clock: clock) { event in
            if event.kind == .ignoredWorthlessAnswer || event.kind == .adoptedLateAnswer { hasAnswered.happen() }
        }
        let shown = try #require(service as? any SessionShowing)
        try await shown.lookAtStore { StoredSession() }
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        await yieldUntil { clock.pendingTimers > 0 }
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        try await shown.lookAtStore { nil }
        load?.answer(.success(AccessToken(value: "late")))
        await hasAnswered.wait()
        #expect(shown.view.status == .signedOut)
    }

    /// A load begins and nothing else is new: what was read is not too old for that.
    @Test(arguments: Engine.allCases)
    func `that loads is looked at once`(_ engine: Engine) async throws {
        let (isLoading, mayLoad) = (Event(), Event())
        let service = try service(engine) { [token] in
            isLoading.happen()
            await mayLoad.wait()
            return token
        }
        let caller = Task { try await service.token() }
        await isLoading.wait()
        let looks = Locked(0)
        try await service.lookAtStore { [token] in
            looks.withLock { $0 += 1 }
            return StoredSession(token: token, subject: "Ann")
        }
        #expect(looks.withLock { $0 } == 1)
        mayLoad.happen()
        #expect(try await caller.valueInTime == token)
    }

    /// A clock that calls the service whose time it tells.
    private final class CallingClock: AccessTokenClock {
        let call = Locked<@Sendable () -> Void>({})

        var now: Date {
            call.withLock { $0 }()
            return Date(timeIntervalSinceReferenceDate: 0)
        }

        func schedule(after seconds: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            AccessTokenTimer {}
        }
    }

    @Test func `is looked at by a clock that calls the service`() async throws {
        let clock = CallingClock()
        let service = AccessTokenService(token: token, loader: Loader { [token] in token }, clock: clock)
        clock.call.withLock { call in
            call = { service.invalidate(AccessToken(value: "another")) }
        }
        try await service.lookAtStore { StoredSession(subject: "Ann") }
        clock.call.withLock { $0 = {} }
        #expect(service.view.subject == "Ann")
    }

    /// A clock whose timers say where they are cancelled.
    private final class TellingClock: AccessTokenClock {
        @TaskLocal static var isReleasing = false
        let wasReleasing = Locked<Bool?>(nil)
        let isCancelled = Event()

        var now: Date { Date(timeIntervalSinceReferenceDate: 0) }

        func schedule(after seconds: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            AccessTokenTimer { [self] in
                wasReleasing.withLock { $0 = Self.isReleasing }
                isCancelled.happen()
            }
        }
    }

    /// The last to let go of a watch can be a decision, on the queue of the service.
    @Test func `calls no clock where a watch is released`() async throws {
        let clock = TellingClock()
        let service = AccessTokenService(
            token: AccessToken(value: "token", expiration: clock.now + 3_600),
            loader: Loader { [token] in token },
            clock: clock
        )
        let isTold = Event()
        var watch: SessionWatch? = SessionWatch(of: service) { _ in
            isTold.happen()
        } onEnd: {
        }
        watch?.signal()
        await isTold.wait()
        while !isKnownUniquelyReferenced(&watch) { await Task.yield() }
        TellingClock.$isReleasing.withValue(true) { watch = nil }
        await clock.isCancelled.wait()
        #expect(clock.wasReleasing.withLock { $0 } == false)
    }

    /// A clock that says what it is asked for, and runs no timer.
    private final class ScriptedClock: AccessTokenClock {
        private let readings = Locked<[Date]>([])
        private let delays = Locked<[TimeInterval]>([])
        let isAsked = Event()
        private let start = Date(timeIntervalSinceReferenceDate: 0)

        var lastDelay: TimeInterval? { delays.withLock { $0.last } }

        func tells(_ seconds: [TimeInterval]) { readings.withLock { $0 = seconds.map { start + $0 } } }

        var now: Date { readings.withLock { $0.isEmpty ? nil : $0.removeFirst() } ?? start }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            delays.withLock { $0.append(delay) }
            isAsked.happen()
            return AccessTokenTimer {}
        }
    }

    /// A token may be valid for ever, or expire between two readings of the clock.
    @Test(arguments: [(Date.distantFuture, 3_155_760_000), (Date(timeIntervalSinceReferenceDate: 3_600), 0)])
    func `asks a clock for no delay that is negative, or longer than a century`(
        _ expiration: Date,
        _ delay: TimeInterval
    ) async {
        let clock = ScriptedClock()
        let service = AccessTokenService(
            token: AccessToken(value: "token", expiration: expiration),
            loader: Loader { [token] in token },
            clock: clock
        )
        let watch = SessionWatch(of: service) { _ in
        } onEnd: {
        }
        clock.tells([3_569, 3_571])
        watch.signal()
        await clock.isAsked.wait()
        #expect(clock.lastDelay == delay)
    }

    @Test @MainActor func `is looked at once in a second at most`() async throws {
        let looks = Locked(0)
        let service = try service(.actor) { [token] in token }
        let session = ObservedSession(showing: service) {
            looks.withLock { $0 += 1 }
            return StoredSession()
        }
        await observe { session.status == .expired }
        let view = Task { await session.follow(every: 0) }
        await yieldUntil { clock.pendingTimers == 1 }
        let before = looks.withLock { $0 }
        clock.advance(by: 0.9)
        #expect(clock.pendingTimers == 1)
        clock.advance(by: 0.1)
        await yieldUntil { looks.withLock { $0 } > before }
        view.cancel()
        await view.value
    }

    @Test @MainActor func `is looked at again and again while a view follows it`() async throws {
        let looks = Locked(0)
        let service = try service(.queue) { [token] in token }
        let session = ObservedSession(showing: service) {
            looks.withLock { $0 += 1 }
            return looks.withLock { $0 } < 4 ? StoredSession() : nil
        }
        let view = Task { await session.follow(every: 5) }
        await observe { session.status == .expired }
        while session.status != .signedOut {
            await yieldUntil { clock.pendingTimers > 0 || session.status == .signedOut }
            clock.advance(by: 5)
        }
        view.cancel()
        await view.value
    }

    /// A service that counts who watches it.
    private final class Watched: SessionShowing {
        let watches = Locked(0)
        private let base: any SessionShowing

        init(_ base: any SessionShowing) { self.base = base }

        var sessionClock: any AccessTokenClock { base.sessionClock }
        var view: SessionView { base.view }

        func add(_ watch: SessionWatch) {
            watches.withLock { $0 += 1 }
            base.add(watch)
        }

        func remove(_ watch: SessionWatch) {
            watches.withLock { $0 -= 1 }
            base.remove(watch)
        }

        func looked(_ found: StoredSession?, since changes: UInt32) async -> Bool {
            await base.looked(found, since: changes)
        }
    }

    @Test @MainActor func `that no view has any more leaves nothing behind`() async throws {
        let service = Watched(try service(.actor, load: { [token] in token }))
        weak var gone: ObservedSession?
        do {
            let session = ObservedSession(showing: service, stored: nil)
            gone = session
            #expect(service.watches.withLock { $0 } == 1)
        }
        #expect(gone == nil)
        await yieldUntil { service.watches.withLock { $0 } == 0 }
    }

    @Test @MainActor func `that is what it was has no view made anew`() async throws {
        let service = try service(.actor) { [token] in token }
        let session = ObservedSession(showing: service) { [token] in StoredSession(token: token, subject: "Ann") }
        await observe { session.status == .signedIn && session.subject == "Ann" }
        let isChanging = Event()
        withObservationTracking {
            _ = (session.status, session.subject)
        } onChange: {
            isChanging.happen()
        }
        await session.look()
        #expect(!isChanging.hasHappened)
    }
}
