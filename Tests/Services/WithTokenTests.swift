import AccessTokenContract
import Dispatch
import TestSupport
import Testing

@Suite("A request with a token", .eightAtATime, .timeLimit(.minutes(10)))
struct WithTokenTests {
    struct Offline: Error {}

    /// The server's reply is a token, to be collected as answers are.
    typealias Outcome = Result<AccessToken, any Error>
    typealias Callback = @Sendable (Outcome) -> Void

    private static let rejected = Outcome.success(AccessToken(value: "401"))
    private static let accepted = Outcome.success(AccessToken(value: "200"))
    private static func isRejected(_ reply: AccessToken) -> Bool { reply.value == "401" }

    /// Remembers the tokens that were sent.
    private final class Server: Sendable {
        private let tokens = Locked<[String]>([])

        var sent: [String] { tokens.withLock { $0 } }

        /// Returns how many were sent.
        @discardableResult
        func take(_ token: AccessToken) -> Int {
            tokens.withLock { tokens in
                tokens.append(token.value)
                return tokens.count
            }
        }
    }

    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()
    private let server = Server()

    init() {
        loader.insideLoad { load in load.answer(.success(AccessToken(value: "T\(load.number)"))) }
        loader.duringLoad { load in load.answer(.success(AccessToken(value: "T\(load.number)"))) }
    }

    // MARK: In both worlds

    @Test(
        arguments: Engine.allCases,
        [
            [accepted], [rejected, accepted], [rejected, rejected], [rejected, .failure(Offline())],
            [.failure(AccessTokenError.tokenRejected), accepted],
            [.failure(AccessTokenError.tokenRejected), .failure(AccessTokenError.tokenRejected)],
            [.failure(Offline())],
        ] as [[Outcome]]
    )
    func `is sent once more after a rejection, and no more often`(_ engine: Engine, _ replies: [Outcome]) async {
        let reply: @Sendable (AccessToken) -> Outcome = { [server] token in replies[server.take(token) - 1] }
        let outcome: Outcome
        let current: AccessToken?
        switch engine {
        case .queue:
            let service = AccessTokenService(loader: loader, clock: clock)
            service.withToken(isRejected: Self.isRejected) { token, callback in
                callback(reply(token))
            } then: { [answers] in
                answers.take($0)
            }
            outcome = await answers.first()
            current = service.currentToken
        case .actor:
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            do {
                outcome = .success(try await service.withToken(isRejected: Self.isRejected) { try reply($0).get() })
            } catch {
                outcome = .failure(error)
            }
            current = service.currentToken
        }
        #expect("\(outcome.map(\.value))" == "\(replies[replies.count - 1].map(\.value))")
        #expect(server.sent == Array(["T1", "T2"].prefix(replies.count)))
        #expect(current?.value == server.sent.last, "a second rejection is not about the token's age")
    }

    // MARK: Async

    @Test @MainActor func `runs where the caller does, and may return what is not Sendable`() async throws {
        final class View {}
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
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
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        _ = try await service.token()
        let everybodySent = Event()
        try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<50 {
                group.addTask { [server] in
                    try await service.withToken(isRejected: Self.isRejected) { token in
                        if server.take(token) == 50 { everybodySent.happen() }
                        await everybodySent.wait()
                        return try (token.value == "T1" ? Self.rejected : Self.accepted).get()
                    }
                }
            }
            for try await reply in group { #expect(reply.value == "200") }
        }
        #expect(loader.loads.count == 2)
    }

    // MARK: Callbacks

    /// Sends a request, and collects its outcome.
    ///
    /// - Parameter onTaken: is told how many requests the server has taken, and calls back for it.
    @discardableResult
    private func send(
        by service: any AccessTokenProviding,
        _ onTaken: @escaping @Sendable (_ number: Int, _ callback: @escaping Callback) -> Void
    ) -> AccessTokenRetrieval {
        service.withToken(isRejected: Self.isRejected) { [server] token, callback in
            onTaken(server.take(token), callback)
        } then: { [answers] in
            answers.take($0)
        }
    }

    @Test func `that is cancelled is answered at once, and not sent again`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        let pending = Locked<Callback?>(nil)
        let isSent = Event()
        let retrieval = send(by: service) { _, callback in
            pending.withLock { $0 = callback }
            isSent.happen()
        }
        await isSent.wait()
        retrieval.cancel()
        await #expect(throws: CancellationError.self) { try await answers.first().get() }
        pending.withLock { $0 }?(Self.rejected)
        #expect(service.currentToken?.value == "T1", "nobody invalidates for a caller that has left")
        #expect(server.sent == ["T1"])
    }

    @Test(arguments: [1, 2])
    func `that is cancelled while it waits for a token gives up its place among the waiters`(load: Int) async {
        let (isWaiting, isCancelled) = (Event(), Event())
        let service = AccessTokenService(loader: loader, clock: clock) { event in
            if event == .init(.loadStarted, load: load) { isWaiting.happen() }
            if event == .init(.waiterCancelled, load: load) { isCancelled.happen() }
        }
        if load == 1 { loader.insideLoad { _ in } }
        let retrieval = send(by: service) { [loader] _, callback in
            loader.insideLoad { _ in }
            callback(Self.rejected)
        }
        await isWaiting.wait()
        retrieval.cancel()
        await isCancelled.wait()
        await #expect(throws: CancellationError.self) { try await answers.first().get() }
    }

    @Test(arguments: [true, false])
    func `is answered on the handlers' queue, whatever its end`(isCancelled: Bool) async {
        let queue = DispatchQueue(label: "handlers")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
        service.signIn(validToken)
        let kept = Locked<Callback?>(nil)
        await withCheckedContinuation { continuation in
            let retrieval = service.withToken { _, reply in
                kept.withLock { $0 = reply }
                if !isCancelled { DispatchQueue.global().async { reply(.failure(Offline())) } }
            } then: { _ in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                continuation.resume()
            }
            if isCancelled { retrieval.cancel() }
        }
    }

    @Test(arguments: [true, false])
    func `is sent at most once with a token that comes twice, and not if it was cancelled`(isCancelled: Bool) async {
        let service = CallbackService()
        let pending = Locked<Callback?>(nil)
        let retrieval = send(by: service) { _, callback in pending.withLock { $0 = callback } }
        if isCancelled { retrieval.cancel() }
        let handlers = service.takeHandlers()
        for handler in handlers + handlers { handler(.success(AccessToken(value: "T1"))) }
        pending.withLock { $0.take() }?(Self.accepted)
        #expect(await (answers.first().error is CancellationError) == isCancelled)
        #expect(answers.results.count == 1)
        #expect(server.sent == (isCancelled ? [] : ["T1"]))
    }

    @Test(
        arguments: [
            [rejected, rejected], [rejected, .failure(Offline())], [rejected, accepted],
            [.failure(AccessTokenError.tokenRejected), .failure(Offline())],
        ] as [[Outcome]],
        [true, false]
    )
    func `whose first callback is called twice is sent once more, and only the repeated request counts`(
        calls: [Outcome],
        isAnswered: Bool
    ) async {
        let kept = Locked<[Callback]>([])
        let hasCalledBack = Event()
        let service = AccessTokenService(loader: loader, clock: clock)
        send(by: service) { number, callback in
            kept.withLock { $0.append(callback) }
            guard number == 1 else { return }
            for call in calls { callback(call) }
            hasCalledBack.happen()
        }
        await hasCalledBack.wait()
        // This handler is called after those that send the repeated request, and also a third one (D2).
        await withCheckedContinuation { continuation in
            _ = service.retrieveToken { _ in continuation.resume() }
        }
        if isAnswered { kept.withLock { $0.last }?(Self.accepted) } else { kept.withLock { _ = $0.popLast() } }
        let outcome = await answers.first()
        #expect(outcome.token?.value == (isAnswered ? "200" : nil))
        #expect(hasFailed(outcome, with: .requestAbandoned) == !isAnswered)
        #expect(server.sent == ["T1", "T2"])
        #expect(kept.withLock { $0.count } == (isAnswered ? 2 : 1), "the first callback is kept")
    }
}
