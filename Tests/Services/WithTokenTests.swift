import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import TestSupport
import Testing

@Suite("A request with a token", .takesTurns, .endsHangs)
struct WithTokenTests {
    struct Offline: Error {}

    /// The server's reply is a token, to be collected as answers are.
    typealias Outcome = Result<AccessToken, any Error>
    typealias Callback = @Sendable (Outcome) -> Void

    fileprivate static let rejected = Outcome.success(AccessToken(value: "401"))
    fileprivate static let accepted = Outcome.success(AccessToken(value: "200"))
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

    /// What the server replies to the first request, and to the second one if there is one.
    enum Replies: CaseIterable {
        case accepts, rejectsOnce, rejectsTwice, rejectsAndIsOffline, rejectsByErrorOnce, rejectsByErrorTwice, isOffline

        fileprivate var outcomes: [Outcome] {
            let rejection = Outcome.failure(AccessTokenError.tokenRejected)
            return switch self {
            case .accepts: [accepted]
            case .rejectsOnce: [rejected, accepted]
            case .rejectsTwice: [rejected, rejected]
            case .rejectsAndIsOffline: [rejected, .failure(Offline())]
            case .rejectsByErrorOnce: [rejection, accepted]
            case .rejectsByErrorTwice: [rejection, rejection]
            case .isOffline: [.failure(Offline())]
            }
        }
    }

    /// Sends a request to a server that replies so.
    private func outcome(
        _ engine: Engine,
        _ replies: Replies
    ) async -> (outcome: Outcome, currentToken: AccessToken?) {
        let outcomes = replies.outcomes
        // A third request, which there must not be, has the reply of the second one.
        let reply: @Sendable (AccessToken) -> Outcome = { [server] token in
            outcomes[min(server.take(token), outcomes.count) - 1]
        }
        switch engine {
        case .queue:
            let service = AccessTokenService(loader: loader, clock: clock)
            service.withToken(isRejected: Self.isRejected) { token, callback in
                callback(reply(token))
            } then: { [answers] in
                answers.take($0)
            }
            return (await answers.first(), service.currentToken)
        case .actor:
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            do {
                let response = try await service.withToken(isRejected: Self.isRejected) { try reply($0).get() }
                return (.success(response), service.currentToken)
            } catch {
                return (.failure(error), service.currentToken)
            }
        }
    }

    @Test(arguments: Engine.allCases, Replies.allCases)
    func `is sent once more after a rejection, and no more often`(_ engine: Engine, _ replies: Replies) async {
        _ = await outcome(engine, replies)
        #expect(server.sent == Array(["T1", "T2"].prefix(replies.outcomes.count)))
    }

    @Test(arguments: Engine.allCases, Replies.allCases)
    func `ends with the last reply, also if that is a rejection`(_ engine: Engine, _ replies: Replies) async {
        let (outcome, _) = await outcome(engine, replies)
        let last = replies.outcomes[replies.outcomes.count - 1]
        #expect("\(outcome.map(\.value))" == "\(last.map(\.value))")
    }

    @Test(arguments: Engine.allCases, [Replies.rejectsTwice, .rejectsByErrorTwice])
    func `that is rejected twice invalidates its first token only`(_ engine: Engine, _ replies: Replies) async {
        let (_, currentToken) = await outcome(engine, replies)
        #expect(currentToken?.value == "T2", "a second rejection is not about the token's age")
    }

    // MARK: Async

    @Test @MainActor func `runs where the caller does`() async throws {
        let service = AsyncAccessTokenService(token: validToken, loader: loader, clock: clock)
        try await service.withToken { _ in MainActor.assertIsolated() }
    }

    @Test @MainActor func `is given its token on the main actor also after it waited for a load`() async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        try await service.withToken { _ in MainActor.assertIsolated() }
    }

    /// That this compiles is the promise.
    @Test func `may return what is not Sendable`() async throws {
        final class View {}
        let service = AsyncAccessTokenService(token: validToken, loader: loader, clock: clock)
        let view = try await service.withToken { _ in View() }
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

    /// Sends a request, and cancels it when the server has it; the callback is the server's.
    private func sendAndCancel(by service: AccessTokenService) async -> Callback? {
        let pending = Locked<Callback?>(nil)
        let isSent = Event()
        let retrieval = send(by: service) { _, callback in
            pending.withLock { $0 = callback }
            isSent.happen()
        }
        await isSent.wait()
        retrieval.cancel()
        return pending.withLock { $0 }
    }

    @Test func `that is cancelled is answered at once`() async {
        let callback = await sendAndCancel(by: AccessTokenService(loader: loader, clock: clock))
        await #expect(throws: CancellationError.self) { try await answers.first().get() }
        callback?(Self.accepted)
    }

    @Test func `that is cancelled and then rejected is not sent again`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        await sendAndCancel(by: service)?(Self.rejected)
        // A second request would have its token, and be sent, before this handler is called (D2).
        await withCheckedContinuation { continuation in
            _ = service.retrieveToken { _ in continuation.resume() }
        }
        #expect(server.sent == ["T1"])
    }

    @Test func `that is cancelled and then rejected invalidates nothing`() async {
        let service = AccessTokenService(loader: loader, clock: clock)
        await sendAndCancel(by: service)?(Self.rejected)
        #expect(service.currentToken?.value == "T1")
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

    @Test func `is sent once with a token that comes twice`() async {
        let service = CallbackService()
        send(by: service) { _, callback in callback(Self.accepted) }
        let handlers = service.takeHandlers()
        for handler in handlers + handlers { handler(.success(AccessToken(value: "T1"))) }
        #expect(await answers.first().token?.value == "200")
        #expect(server.sent == ["T1"])
    }

    @Test func `is not sent if it was cancelled before its token came`() async {
        let service = CallbackService()
        send(by: service) { _, _ in }.cancel()
        for handler in service.takeHandlers() { handler(.success(AccessToken(value: "T1"))) }
        #expect(await answers.first().error is CancellationError)
        #expect(server.sent.isEmpty)
    }

    @Test func `that is cancelled loads nothing in the session that begins then`() async {
        let queue = DispatchQueue(label: "loads and handlers")
        let service = AccessTokenService(loader: loader, clock: clock, loaderQueue: queue, handlerQueue: queue)
        service.signIn(validToken)
        queue.suspend()
        send(by: service) { _, _ in }.cancel()
        service.signIn()
        queue.resume()
        await #expect(throws: CancellationError.self) { try await answers.first().get() }
        // What an earlier handler has begun, and the load that it would have begun.
        await onThreadOfItsOwn { for _ in 1...3 { queue.sync {} } }
        #expect(loader.loads.isEmpty)
    }

    // MARK: A first callback that is called twice

    /// What a request calls its first callback with.
    enum FirstCalls: CaseIterable {
        case rejectionTwice, rejectionAndError, rejectionAndReply, rejectionByErrorAndError

        fileprivate var outcomes: [Outcome] {
            switch self {
            case .rejectionTwice: [rejected, rejected]
            case .rejectionAndError: [rejected, .failure(Offline())]
            case .rejectionAndReply: [rejected, accepted]
            case .rejectionByErrorAndError: [.failure(AccessTokenError.tokenRejected), .failure(Offline())]
            }
        }
    }

    /// The callbacks that a request was given.
    private final class Callbacks: Sendable {
        private let callbacks = Locked<[Callback]>([])

        func append(_ callback: @escaping Callback) { callbacks.withLock { $0.append(callback) } }
        func callLast(_ outcome: Outcome) { callbacks.withLock { $0.last }?(outcome) }
        func dropLast() { _ = callbacks.withLock { $0.popLast() } }
    }

    /// Sends a request that calls its first callback so; returns the callbacks that the request was given.
    private func callTwice(_ calls: FirstCalls) async -> Callbacks {
        let kept = Callbacks()
        let hasCalledBack = Event()
        let service = AccessTokenService(loader: loader, clock: clock)
        send(by: service) { number, callback in
            kept.append(callback)
            guard number == 1 else { return }
            for call in calls.outcomes { callback(call) }
            hasCalledBack.happen()
        }
        await hasCalledBack.wait()
        // This handler is called after those that send the repeated request, and also a third one (D2).
        await withCheckedContinuation { continuation in
            _ = service.retrieveToken { _ in continuation.resume() }
        }
        return kept
    }

    @Test(arguments: FirstCalls.allCases)
    func `whose first callback is called twice is sent once more, and no more often`(_ calls: FirstCalls) async {
        let kept = await callTwice(calls)
        #expect(server.sent == ["T1", "T2"])
        kept.callLast(Self.accepted)
    }

    @Test(arguments: FirstCalls.allCases)
    func `whose first callback is called twice is answered by the repeated request`(_ calls: FirstCalls) async {
        let kept = await callTwice(calls)
        #expect(answers.results.isEmpty)
        kept.callLast(Self.accepted)
        #expect(await answers.first().token?.value == "200")
    }

    @Test(arguments: FirstCalls.allCases)
    func `whose repeated request drops its callback fails, though the first callback is kept`(
        _ calls: FirstCalls
    ) async {
        let kept = await callTwice(calls)
        kept.dropLast()
        #expect(hasFailed(await answers.first(), with: .requestAbandoned))
        withExtendedLifetime(kept) {}
    }
}
