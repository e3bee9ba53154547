import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Each session's own time-outs and cancellation", .takesTurns, .endsHangs)
struct SessionCancellationTests {
    private func code(of task: Task<Int, any Error>) async -> URLError.Code? {
        (await #expect(throws: URLError.self) { try await task.value })?.code
    }

    /// The caller cancels its own request, or the session all of its own; the load is under way, or the server is
    /// silent.
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], SessionKind.allCases)
    func `end a request at once, and load and other sessions go on`(
        how: (bySession: Bool, whileLoading: Bool),
        kind: SessionKind
    ) async throws {
        let (isLoading, mayEnd, gate) = (Event(), Event(), Gate())
        try await withServer { connection, _ in
            if !how.whileLoading { gate.pass() }
            connection.reply(200, "")
        } _: { server in
            let (service, loader) = ListLoader.service { _ in
                isLoading.happen()
                if how.whileLoading { await mayEnd.wait() }
            }
            let request = URLRequest(url: try server.resource)
            let ours = kind.session(service, origins: [try server.url])
            let others = try SessionKind.allCases.map { $0.session(service, origins: [try server.url]) }
            let cancelled = Task { try await ours.data(for: request).1.status }
            // The load is the one of our request, which the session knows by then.
            await isLoading.wait()
            let kept = others.map { session in Task { try await session.data(for: request).1.status } }
            if !how.whileLoading { await yieldUntil { server.requests.count == 3 } }
            if how.bySession { ours.cancelRequests() } else { cancelled.cancel() }
            #expect(await code(of: cancelled) == .cancelled)
            mayEnd.happen()
            for _ in 0..<4 { gate.open() }
            for task in kept { #expect(try await task.value == 200) }
            #expect(loader.loads == 1)
            #expect(server.requests.count == (how.whileLoading ? 2 : 3))
            // A session goes on after that.
            #expect(try await ours.data(for: request).1.status == 200)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `have their own configuration, which was copied, and one service`(kind: SessionKind) async throws {
        let gate = Gate()
        try await withServer { connection, request in
            if request.fields["x-module"] == "impatient" { gate.pass() }
            connection.reply(200, "")
        } _: { server in
            let (service, loader) = ListLoader.service()
            let sessions = try ["patient", "impatient"].map { name in
                let configuration = URLSessionConfiguration.keepingNothing
                configuration.httpAdditionalHeaders = ["X-Module": name]
                configuration.timeoutIntervalForRequest = name == "patient" ? 3600 : 1
                let session = kind.session(service, origins: [try server.url], configuration: configuration)
                configuration.httpAdditionalHeaders = ["X-Module": "changed"]
                return session
            }
            let tasks = sessions.map { session in
                Task { try await session.data(for: URLRequest(url: try server.resource)).1.status }
            }
            #expect(try await tasks[0].value == 200)
            #expect(await code(of: tasks[1]) == .timedOut)
            gate.open()
            // On a busy machine the impatient one may give up before its request is there.
            let modules = Set(server.requests.map { $0.fields["x-module"] })
            #expect(modules.contains("patient") && modules.isSubset(of: ["patient", "impatient"]))
            #expect(loader.loads == 1)
        }
    }

    @Test func `keep no request that has ended`() {
        let running = RunningRequests()
        let calls = Locked(0)
        let (ended, running2) = (running.begin(), running.begin())
        for cancellation in [ended, running2] { cancellation.whenFired { calls.withLock { $0 += 1 } } }
        running.end(ended)
        running.cancelAll()
        running.cancelAll()
        #expect(calls.withLock { $0 } == 1)
        // What comes after the cancellation is cancelled as well.
        running2.whenFired { calls.withLock { $0 += 10 } }
        #expect(calls.withLock { $0 } == 11)
        running.end(running2)
        #expect(running.count == 0)
    }

    /// Each kind of reply, and none.
    @Test(arguments: SessionKind.allCases)
    func `harm nobody when hundreds of cancellations race with replies`(kind: SessionKind) async throws {
        let unanswered = URLRequest(url: try Nobody.url)
        try await withServer { connection, _ in
            switch connection.number % 5 {
            case 0: connection.reply(200, String(repeating: "x", count: 100_000))
            case 1: connection.reply(401, "", fields: ["WWW-Authenticate": "Basic realm=x"])
            case 2: connection.reply(307, "", fields: ["Location": "/token"])
            case 3: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
            default: break
            }
        } _: { server in
            let origins = [try server.url, try Nobody.url]
            let session = kind.session(ListLoader.service().0, origins: origins)
            let answered = URLRequest(url: try server.resource)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<(Effort.isThorough ? 600 : 200) {
                    group.addTask {
                        let request = number.isMultiple(of: 2) ? unanswered : answered
                        let caller = Task { try await session.data(for: request) }
                        for _ in 0..<(number % 50) { await Task.yield() }
                        caller.cancel()
                        _ = try? await caller.valueInTime
                    }
                }
            }
        }
    }
}
