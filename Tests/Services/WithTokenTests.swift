import AccessTokenContract
import TestSupport
import Testing

@Suite("A request with a token", .eightAtATime, .timeLimit(.minutes(10)))
struct WithTokenTests {
    struct Reply: Equatable, Sendable {
        let status: Int
        let token: String
    }

    struct Offline: Error {}

    /// Replies with one status after the other, and then with the last one again and again.
    private final class Server: Sendable {
        private let tokens = Locked<[String]>([])

        /// The values of the tokens that were sent.
        var sent: [String] { tokens.withLock { $0 } }

        @discardableResult
        func take(_ token: AccessToken, statuses: [Int] = [200]) -> Reply {
            let count = tokens.withLock { tokens in
                tokens.append(token.value)
                return tokens.count
            }
            return Reply(status: statuses[min(count, statuses.count) - 1], token: token.value)
        }
    }

    let loader = ControlledLoader()
    private let server = Server()

    init() {
        loader.insideLoad { load in load.answer(.success(AccessToken(value: "T\(load.number)"))) }
        loader.duringLoad { load in load.answer(.success(AccessToken(value: "T\(load.number)"))) }
    }

    // MARK: Async

    @Test(arguments: [([200], 200, ["T1"]), ([401, 200], 200, ["T1", "T2"]), ([401, 401], 401, ["T1", "T2"])])
    func `is sent once more after a rejection, and no more often`(statuses: [Int], last: Int, tokens: [String])
        async throws
    {
        let service = AsyncAccessTokenService(loader: loader, clock: ManualClock())
        let reply = try await service.withToken(isRejected: { $0.status == 401 }) { token in
            server.take(token, statuses: statuses)
        }
        #expect(reply == Reply(status: last, token: tokens.last ?? ""))
        #expect(server.sent == tokens)
        #expect(service.currentToken?.value == tokens.last, "a second rejection is not about the token's age")
    }

    @Test func `that throws tokenRejected is sent once more, and the second time the error is the caller's`() async {
        let service = AsyncAccessTokenService(loader: loader, clock: ManualClock())
        await #expect(throws: AccessTokenError.tokenRejected) {
            try await service.withToken { token in
                server.take(token)
                throw AccessTokenError.tokenRejected
            }
        }
        #expect(server.sent == ["T1", "T2"])
    }

    @Test func `that throws something else is not sent again`() async {
        let service = AsyncAccessTokenService(loader: loader, clock: ManualClock())
        await #expect(throws: Offline.self) {
            try await service.withToken { token in
                server.take(token)
                throw Offline()
            }
        }
        #expect(server.sent == ["T1"])
        #expect(service.currentToken?.value == "T1")
    }

    @Test @MainActor func `runs where the caller does, and may return what is not Sendable`() async throws {
        final class View {}
        let service = AsyncAccessTokenService(loader: loader, clock: ManualClock())
        var count = 0
        let view = try await service.withToken { _ in
            MainActor.assertIsolated()
            count += 1
            return View()
        }
        #expect(count == 1)
        withExtendedLifetime(view) {}
    }

    @Test func `of fifty callers who are all rejected causes one load`() async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: ManualClock())
        _ = try await service.token()
        let everybodySent = Event()
        try await withThrowingTaskGroup(of: Reply.self) { group in
            for _ in 0..<50 {
                group.addTask { [server] in
                    try await service.withToken(isRejected: { $0.status == 401 }) { token in
                        server.take(token)
                        if server.sent.count == 50 { everybodySent.happen() }
                        await everybodySent.wait()
                        return Reply(status: token.value == "T1" ? 401 : 200, token: token.value)
                    }
                }
            }
            for try await reply in group { #expect(reply == Reply(status: 200, token: "T2")) }
        }
        #expect(loader.loads.count == 2)
    }

    // MARK: Callbacks

    private func answer<Value: Sendable>(
        _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
    }

    @Test(arguments: [([200], 200, ["T1"]), ([401, 200], 200, ["T1", "T2"]), ([401, 401], 401, ["T1", "T2"])])
    func `by callbacks is sent once more after a rejection too`(statuses: [Int], last: Int, tokens: [String])
        async throws
    {
        let service = AccessTokenService(loader: loader, clock: ManualClock())
        let reply: Reply = try await answer { handler in
            service.withToken(isRejected: { (reply: Reply) in reply.status == 401 }) { [server] token, reply in
                reply(.success(server.take(token, statuses: statuses)))
            } then: {
                handler($0)
            }
        }
        #expect(reply == Reply(status: last, token: tokens.last ?? ""))
        #expect(server.sent == tokens)
        #expect(service.currentToken?.value == tokens.last)
    }

    @Test func `that is cancelled is answered at once, and not sent again`() async throws {
        let service = AccessTokenService(loader: loader, clock: ManualClock())
        let pending = Locked<(@Sendable (Result<Reply, any Error>) -> Void)?>(nil)
        let isSent = Event()
        let retrieval = Locked<AccessTokenRetrieval?>(nil)
        let call = Task { () -> Reply in
            try await answer { handler in
                let isRejected: @Sendable (Reply) -> Bool = { $0.status == 401 }
                let cancel = service.withToken(isRejected: isRejected) { [server] token, reply in
                    server.take(token)
                    pending.withLock { $0 = reply }
                    isSent.happen()
                } then: {
                    handler($0)
                }
                retrieval.withLock { $0 = cancel }
            }
        }
        await isSent.wait()
        // The request may be sent before the call that sends it has returned.
        await yieldUntil { retrieval.withLock { $0 != nil } }
        retrieval.withLock { $0 }?.cancel()
        await #expect(throws: CancellationError.self) { try await call.valueInTime }
        pending.withLock { $0 }?(.success(Reply(status: 401, token: "T1")))
        #expect(service.currentToken?.value == "T1", "nobody invalidates for a caller that has left")
        #expect(server.sent == ["T1"])
    }

    @Test(arguments: [1, 2])
    func `that is cancelled while it waits for a token gives up its place among the waiters`(load: Int) async {
        let isWaiting = Event()
        let isCancelled = Event()
        let loader = ControlledLoader()
        let service = AccessTokenService(loader: loader, clock: ManualClock()) { event in
            if event == .init(.loadStarted, load: load) { isWaiting.happen() }
            if event == .init(.waiterCancelled, load: load) { isCancelled.happen() }
        }
        if load == 2 { loader.insideLoad { load in load.answer(.success(AccessToken(value: "T\(load.number)"))) } }
        let answers = Answers()
        let retrieval = service.withToken { [loader] token, reply in
            loader.insideLoad { _ in }
            reply(.failure(AccessTokenError.tokenRejected))
        } then: { (result: Result<AccessToken, any Error>) in
            answers.take(result)
        }
        await isWaiting.wait()
        retrieval.cancel()
        await isCancelled.wait()
        await answers.count(1)
        #expect(throws: CancellationError.self) { try answers.results[0].get() }
    }

    /// Cannot cancel, and answers when the test lets it.
    private final class StubbornService: AccessTokenProviding {
        let handler = Locked<AccessTokenHandler?>(nil)

        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            self.handler.withLock { $0 = handler }
            return AccessTokenRetrieval(onCancel: nil)
        }
        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    @Test func `that is cancelled is not sent with a token that comes all the same`() async {
        let service = StubbornService()
        let answers = Answers()
        let retrieval = service.withToken { [server] token, reply in
            server.take(token)
            reply(.success(token))
        } then: { (result: Result<AccessToken, any Error>) in
            answers.take(result)
        }
        retrieval.cancel()
        await answers.count(1)
        #expect(throws: CancellationError.self) { try answers.results[0].get() }
        service.handler.withLock { $0 }?(.success(AccessToken(value: "T1")))
        #expect(server.sent == [])
        #expect(answers.results.count == 1)
    }

    /// Sends requests by callbacks, each of which replies as the closure says.
    private func send(
        by service: any AccessTokenProviding,
        _ reply: @escaping @Sendable (_ number: Int, @escaping @Sendable (Result<Reply, any Error>) -> Void) -> Void
    ) async throws -> Reply {
        try await answer { handler in
            service.withToken(isRejected: { (reply: Reply) in reply.status == 401 }) { [server] token, callback in
                server.take(token)
                reply(server.sent.count, callback)
            } then: {
                handler($0)
            }
        }
    }

    private static let rejected = Result<Reply, any Error>.success(Reply(status: 401, token: "T1"))
    private static let accepted = Result<Reply, any Error>.success(Reply(status: 200, token: "T2"))

    @Test(
        arguments: [
            [rejected, rejected], [rejected, .failure(Offline())], [rejected, accepted],
            [.failure(AccessTokenError.tokenRejected), .failure(Offline())],
        ] as [[Result<Reply, any Error>]]
    )
    func `whose first callback is called twice is sent once more, and the repeated request counts`(
        calls: [Result<Reply, any Error>]
    ) async throws {
        let last = Locked<(@Sendable (Result<Reply, any Error>) -> Void)?>(nil)
        let hasCalledBack = Event()
        let service = AccessTokenService(loader: loader, clock: ManualClock())
        let call = Task {
            try await send(by: service) { number, callback in
                if number == 1 {
                    for call in calls { callback(call) }
                    hasCalledBack.happen()
                } else {
                    last.withLock { $0 = callback }
                }
            }
        }
        await hasCalledBack.wait()
        // This handler is called after those that send the repeated request, and also a third one (D2).
        await withCheckedContinuation { continuation in
            _ = service.retrieveToken { _ in continuation.resume() }
        }
        last.withLock { $0 }?(Self.accepted)
        #expect(try await call.valueInTime == Reply(status: 200, token: "T2"))
        #expect(server.sent == ["T1", "T2"])
    }

    @Test func `that keeps its first callback and drops the second ends with an error that says so`() async {
        let first = Locked<(@Sendable (Result<Reply, any Error>) -> Void)?>(nil)
        let service = AccessTokenService(loader: loader, clock: ManualClock())
        let call = Task {
            try await send(by: service) { number, callback in
                guard number == 1 else { return }
                first.withLock { $0 = callback }
                callback(Self.rejected)
            }
        }
        await #expect(throws: AccessTokenError.requestAbandoned) { try await call.valueInTime }
        #expect(server.sent == ["T1", "T2"])
        withExtendedLifetime(first) {}
    }

    @Test func `is sent once with a token that the service hands out twice`() async throws {
        let service = StubbornService()
        let callback = Locked<(@Sendable (Result<Reply, any Error>) -> Void)?>(nil)
        let answers = Answers()
        service.withToken { [server] token, reply in
            server.take(token)
            callback.withLock { $0 = reply }
        } then: { (result: Result<Reply, any Error>) in
            answers.take(result.map { AccessToken(value: $0.token) })
        }
        let handler = service.handler.withLock { $0.take() }
        handler?(.success(AccessToken(value: "T1")))
        handler?(.success(AccessToken(value: "T1")))
        callback.withLock { $0.take() }?(Self.accepted)
        await answers.count(1)
        #expect(server.sent == ["T1"])
        #expect(try answers.results[0].get().value == "T2")
    }
}
