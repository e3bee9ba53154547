import AccessTokenAdapters
import AccessTokenCore
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The delegate of a session's request, of either kind", .eightAtATime, .timeLimit(.minutes(10)))
struct ProgressTests {
    private static let body = Data(String(repeating: "0123456789", count: 50_000).utf8)

    @Test(arguments: SessionKind.allCases)
    func `is told what each attempt has sent, and decides nothing`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            switch connection.number {
            case 1: connection.reply(401, "", fields: ["WWW-Authenticate": "Basic realm=x"])
            case 2: connection.reply(307, "", fields: ["Location": "/moved"])
            default: connection.reply(200, "served")
            }
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            var request = URLRequest(url: try server.resource)
            request.httpMethod = "POST"
            let recorder = Recorder()
            let (data, _) = try await session.upload(for: request, from: Self.body, delegate: recorder)
            #expect(String(decoding: data, as: UTF8.self) == "served")
            let notes = recorder.notes
            let whole = Self.body.count
            let attempts = ["Bearer A1 /resource", "Bearer A2 /resource", "Bearer A2 /moved"]
            #expect(notes.sent == Dictionary(uniqueKeysWithValues: attempts.map { ($0, whole) }))
            #expect(notes.expected == [Int64(whole)])
            #expect(notes.decisions.isEmpty)
        }
    }

    @Test func `is let go of by a connection as soon as nobody waits, though the server is still silent`() async throws
    {
        let received = Event()
        let gate = Gate()
        try await withServer { connection, _ in
            received.happen()
            gate.pass()
            connection.reply(200, "")
        } _: { server in
            defer { gate.open() }
            let request = URLRequest(url: try server.resource)
            let exchange = HTTPExchange(request, to: .memory(limit: 1), delegate: Recorder())
            exchange.start(over: HTTPConnections(.keepingNothing)) { _ in }
            await received.wait()
            #expect(exchange.delegate != nil)
            exchange.abandon()
            #expect(exchange.delegate == nil)
        }
    }

    @Test func `is let go of by a task that is over, and not taken by it any more`() throws {
        let origin = try #require(URL(string: "https://localhost"))
        let session = BearerSession(tokens: CallbackServiceAdapter(of: SampleTokens.service().0), origins: [origin])
        let task = session.dataTask(with: origin) { _, _, _ in }
        task.delegate = Recorder()
        #expect(task.delegate != nil)
        task.cancel()
        #expect(task.delegate == nil)
        task.delegate = Recorder()
        #expect(task.delegate == nil)
    }
}

/// Writes down what a delegate is told, and what it is asked.
private final class Recorder: NSObject, URLSessionTaskDelegate {
    struct Notes: Sendable {
        /// The last number of bytes of each attempt, by its token and path.
        var sent: [String: Int] = [:]
        var expected: Set<Int64> = []
        var decisions: [String] = []
    }

    private let state = Locked(Notes())

    var notes: Notes { state.withLock { $0 } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let request = task.originalRequest
        let attempt = "\(request?.value(forHTTPHeaderField: "Authorization") ?? "") \(request?.url?.path ?? "")"
        state.withLock { notes in
            notes.sent[attempt] = Int(totalBytesSent)
            notes.expected.insert(totalBytesExpectedToSend)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        state.withLock { $0.decisions.append("redirect") }
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        state.withLock { $0.decisions.append("challenge") }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}
