import AccessTokenContract
import Testing

@Suite("Signing out")
struct SigningOutTests {
    /// Takes its time to forget: as much as it takes for a service that does not wait to be found out.
    private final class SlowLoader: AccessTokenLoader, AsyncAccessTokenLoader {
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
            for _ in 0..<1000 where order.withLock({ $0.isEmpty }) { await Task.yield() }
            order.withLock { $0.append("forgotten") }
        }
    }

    static let kinds = [
        "queue", "queue, async loader", "actor", "actor, callback loader", "view of the queue", "view of the actor",
        "view of others",
    ]

    /// A callback service of others, which must not be known as one of this package.
    private struct ForeignService: AsyncAccessTokenProviding {
        let base: AsyncAccessTokenService
        func token() async throws -> AccessToken { try await base.token() }
        func invalidate(_ rejected: AccessToken) async { await base.invalidate(rejected) }
        func signOut() async { await base.signOut() }
    }

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
            let service = AccessTokenService(loader: CallbackLoaderView(of: loader))
            (callback, async) = (service, service)
        case "actor": (callback, async) = (CallbackServiceView(of: actor), actor)
        case "actor, callback loader":
            let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: loader))
            (callback, async) = (CallbackServiceView(of: service), service)
        case "view of the queue": (callback, async) = (CallbackServiceView(of: queue), AsyncServiceView(of: queue))
        case "view of the actor":
            let view = CallbackServiceView(of: actor)
            (callback, async) = (view, AsyncServiceView(of: view))
        default:
            let view = CallbackServiceView(of: ForeignService(base: actor))
            (callback, async) = (view, AsyncServiceView(of: view))
        }
        if world == "async" {
            await async.signOut()
            loader.order.withLock { $0.append("done") }
        } else {
            let isDone = Event()
            callback.signOut {
                loader.order.withLock { $0.append("done") }
                isDone.happen()
            }
            await isDone.wait()
        }
        #expect(loader.order.withLock { $0.first } == "forgotten")
    }
}
