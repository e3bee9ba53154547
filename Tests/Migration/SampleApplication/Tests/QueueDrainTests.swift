import AccessTokenGCD
import Dispatch
import Testing

@Suite("A test that passes its queue to the queue service, and drains it")
struct QueueDrainTests {
    private struct AtOnce: AccessTokenLoader {
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handler(.success(AccessToken(value: "token")))
        }
    }

    @Test func `drains it twice, for the loader and for the handlers`() async {
        let queue = DispatchQueue(label: "injected")
        let service = AccessTokenService(loader: AtOnce(), loaderQueue: queue, handlerQueue: queue)
        let (answers, answer) = AsyncStream.makeStream(of: String?.self)
        retrieve(from: service) { answer.yield(try? $0.get().value) }
        retrieve(from: service) { answer.yield(try? $0.get().value) }
        drain(queue)
        drain(queue)
        answer.finish()
        #expect(await answers.reduce(into: []) { $0.append($1) } == ["token", "token"])
    }

    /// Outside of async code, where the compiler would advise to use `token()`.
    private func retrieve(from service: AccessTokenService, then handler: @escaping AccessTokenHandler) {
        service.retrieveToken(then: handler)
    }

    private func drain(_ queue: DispatchQueue) {
        queue.sync {}
    }
}
