import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cancelling a request of a session", .eightAtATime, .timeLimit(.minutes(10)))
struct SessionCancellationTests {
    private func isCancelled(_ task: Task<(Data, URLResponse), any Error>) async -> Bool {
        let error = await #expect(throws: URLError.self) { try await task.value }
        return error?.code == .cancelled
    }

    @Test(arguments: SessionKind.allCases)
    func `while the token is loaded it is answered at once, and load and others go on`(kind: SessionKind) async throws {
        let isLoading = Event()
        let mayEnd = Event()
        try await withServer { connection, _ in
            connection.reply(200, "served")
        } _: { server in
            let (service, loader) = SampleTokens.service { _ in
                isLoading.happen()
                await mayEnd.wait()
            }
            let request = URLRequest(url: try server.resource)
            let ours = kind.session(service, origins: [try server.url])
            let others = try SessionKind.allCases.map { $0.session(service, origins: [try server.url]) }
            let cancelled = Task { try await ours.data(for: request) }
            await isLoading.wait()
            let kept = others.map { other in Task { try await other.data(for: request) } }
            cancelled.cancel()
            #expect(await isCancelled(cancelled))
            mayEnd.happen()
            for task in kept { #expect(try await task.value.1.status == 200) }
            #expect(loader.loads == 1)
            #expect(server.requests.count == kept.count)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `before it began, nothing is loaded or sent`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let (service, loader) = SampleTokens.service()
            let session = kind.session(service, origins: [try server.url])
            let request = URLRequest(url: try server.resource)
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                for await _ in starts {}
                return try await session.data(for: request)
            }
            task.cancel()
            start.finish()
            #expect(await isCancelled(task))
            // A callback task has been resumed by then: its token may be on the way, and its request is not.
            if kind == .async { #expect(loader.loads == 0) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `while the server is silent it is answered at once, and another request goes on`(kind: SessionKind)
        async throws
    {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(200, "served")
        } _: { server in
            let (service, _) = SampleTokens.service()
            let request = URLRequest(url: try server.resource)
            let sessions = try (0..<2).map { _ in kind.session(service, origins: [try server.url]) }
            let tasks = sessions.map { session in Task { try await session.data(for: request) } }
            await yieldUntil { server.requests.count == 2 }
            tasks[0].cancel()
            #expect(await isCancelled(tasks[0]))
            gate.open()
            gate.open()
            #expect(try await tasks[1].value.1.status == 200)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `in the middle of a body without end, the connection closes`(kind: SessionKind) async throws {
        let hasBegun = Event()
        let hasHungUp = Event()
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
            // A network is slower than memory, and on Linux nothing but a pause lets a client stop reading.
            while connection.trySend(piece) {
                hasBegun.happen()
                Thread.sleep(forTimeInterval: 0.001)
            }
            hasHungUp.happen()
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let request = URLRequest(url: try server.resource)
            let task = Task { try await session.contents(for: request) }
            await hasBegun.wait()
            task.cancel()
            #expect(await isCancelled(task))
            await hasHungUp.wait()
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `hundreds that race with a refused connection harm nobody`(kind: SessionKind) async throws {
        let request = URLRequest(url: try Nobody.url)
        let session = kind.session(SampleTokens.service().0, origins: [try Nobody.url])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let caller = Task { try await session.data(for: request) }
                    for _ in 0..<(number % 8) { await Task.yield() }
                    caller.cancel()
                    let error = await #expect(throws: URLError.self) { try await caller.valueInTime }
                    #expect([.cancelled, .cannotConnectToHost].contains(error?.code))
                }
            }
        }
    }

    @Test func `hundreds that are let go at every moment of a refusal harm nobody`() async throws {
        let request = URLRequest(url: try Nobody.url)
        let connections = HTTPConnections(.default)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let exchange = HTTPExchange(request, to: .memory(limit: .max))
                    let answered = Event()
                    exchange.start(over: connections) { _ in answered.happen() }
                    for _ in 0..<(number % 100) { await Task.yield() }
                    exchange.abandon()
                    await answered.wait()
                }
            }
        }
    }

    @Test func `an exchange that is let go before it starts is not sent`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let connections = HTTPConnections(.keepingNothing)
            let answers = Locked<[URLError.Code?]>([])
            for isWanted in [false, true] {
                let isAnswered = Event()
                let exchange = HTTPExchange(URLRequest(url: try server.resource), to: .memory(limit: .max))
                if !isWanted { exchange.abandon() }
                exchange.start(over: connections) { result in
                    var code: URLError.Code?
                    if case .failure(let error) = result { code = (error as? URLError)?.code }
                    answers.withLock { $0.append(code) }
                    isAnswered.happen()
                }
                #expect(await isAnswered.happens())
            }
            #expect(answers.withLock { $0 } == [.cancelled, nil])
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an exchange that is let go before the reply begins reads nothing of it`() async throws {
        let gate = Gate()
        let hasHungUp = Event()
        try await withServer { connection, _ in
            gate.pass()
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
            for _ in 0..<10_000 {
                guard connection.trySend(piece) else { return hasHungUp.happen() }
                Thread.sleep(forTimeInterval: 0.001)
            }
        } _: { server in
            let exchange = HTTPExchange(URLRequest(url: try server.resource), to: .memory(limit: .max))
            let isAnswered = Event()
            exchange.start(over: HTTPConnections(.keepingNothing)) { _ in isAnswered.happen() }
            await yieldUntil { server.requests.count == 1 }
            exchange.abandon()
            #expect(await isAnswered.happens())
            gate.open()
            #expect(await hasHungUp.happens())
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `hundreds that race with replies of all kinds harm nobody`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            switch connection.number % 5 {
            case 0: connection.reply(200, String(repeating: "x", count: 100_000))
            case 1: connection.reply(401, "", fields: ["WWW-Authenticate": "Basic realm=x"])
            case 2: connection.reply(307, "", fields: ["Location": "/token"])
            case 3: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
            default: break
            }
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            var request = URLRequest(url: try server.resource)
            request.httpMethod = "POST"
            await withTaskGroup(of: Void.self) { [request] group in
                for number in 0..<400 {
                    group.addTask {
                        let body = Data(repeating: 0x20, count: number * 300)
                        let caller = Task { try await session.upload(for: request, from: body) }
                        for _ in 0..<(number % 50) { await Task.yield() }
                        caller.cancel()
                        _ = await caller.result
                    }
                }
            }
        }
    }
}
