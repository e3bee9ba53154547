import AccessTokenContract
import TestSupport
import Testing

@Suite("Signing out", .eightAtATime)
struct SigningOutTests {
    /// Forgets when the test lets it.
    private final class SlowLoader: AccessTokenLoader, AsyncAccessTokenLoader {
        let isForgetting = Event()
        let mayForget = Event()
        let order = Locked<[String]>([])

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {}
        func load(replacing old: AccessToken?) async throws -> AccessToken { validToken }

        func signOut(then done: @escaping @Sendable () -> Void) {
            Task {
                await self.signOut()
                done()
            }
        }

        func signOut() async {
            isForgetting.happen()
            await mayForget.wait()
            order.withLock { $0.append("forgotten") }
        }
    }

    static let kinds = [
        "queue", "queue, async loader", "actor", "actor, callback loader", "view of the queue", "view of the actor",
        "view of others",
    ]

    @Test(arguments: kinds, ["async", "callback"])
    func `ends when the loader has forgotten the session, and not before`(_ kind: String, _ world: String) async {
        let loader = SlowLoader()
        let actor = AsyncAccessTokenService(loader: loader)
        let queue = AccessTokenService(loader: loader)
        let callback: any AccessTokenProviding
        let async: any AsyncAccessTokenProviding
        switch kind {
        case "queue": (callback, async) = (queue, queue)
        case "queue, async loader":
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader))
            (callback, async) = (service, service)
        case "actor": (callback, async) = (CallbackServiceAdapter(of: actor), actor)
        case "actor, callback loader":
            let service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader))
            (callback, async) = (CallbackServiceAdapter(of: service), service)
        case "view of the queue":
            (callback, async) = (CallbackServiceAdapter(of: queue), AsyncServiceAdapter(of: queue))
        case "view of the actor":
            let view = CallbackServiceAdapter(of: actor)
            (callback, async) = (view, AsyncServiceAdapter(of: view))
        default:
            let view = CallbackServiceAdapter(of: AsyncServiceOfOthers(base: actor))
            (callback, async) = (view, AsyncServiceAdapter(of: view))
        }
        let isDone = Event()
        let done: @Sendable () -> Void = {
            loader.order.withLock { $0.append("done") }
            isDone.happen()
        }
        if world == "async" {
            Task {
                await async.signOut()
                done()
            }
        } else {
            callback.signOut(then: done)
        }
        await loader.isForgetting.wait()
        // A service that does not wait for its loader is done by now, or soon.
        for _ in 0..<5 { await Task.yield() }
        loader.mayForget.happen()
        await isDone.wait()
        #expect(loader.order.withLock { $0 } == ["forgotten", "done"])
    }

    /// Loads until its task is cancelled, or until the test says so.
    private final class PatientLoader: AsyncAccessTokenLoader {
        let loads = Locked(0)
        let mayEnd = Event()
        let isCancelled = Event()

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            loads.withLock { $0 += 1 }
            await withTaskCancellationHandler {
                await mayEnd.wait()
            } onCancel: {
                isCancelled.happen()
                mayEnd.happen()
            }
            try Task.checkCancellation()
            return validToken
        }
    }

    @Test func `cancels the load of the service, and no other load of the loader`() async throws {
        let (loader, other) = (PatientLoader(), PatientLoader())
        let adapter = CallbackLoaderAdapter(of: PairedLoader(loader, other))
        let first = AccessTokenService(loader: adapter)
        let caller = Task { try await first.token() }
        await yieldUntil { loader.loads.withLock { $0 } == 1 }
        let second = AccessTokenService(loader: adapter)
        let neighbour = Task { try await second.token() }
        await yieldUntil { other.loads.withLock { $0 } == 1 }
        await first.signOut()
        #expect(loader.isCancelled.hasHappened)
        #expect(!other.isCancelled.hasHappened)
        other.mayEnd.happen()
        #expect(try await neighbour.valueInTime == validToken)
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
    }

    /// Gives its first load to one loader, and the others to another one.
    private final class PairedLoader: AsyncAccessTokenLoader {
        private let loaders: [PatientLoader]
        private let loads = Locked(0)

        init(_ first: PatientLoader, _ second: PatientLoader) {
            loaders = [first, second]
        }

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let index = loads.withLock { loads in
                defer { loads += 1 }
                return min(loads, 1)
            }
            return try await loaders[index].load(replacing: old)
        }
    }
}
