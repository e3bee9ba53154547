import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import OAuthFoundation

/// A server on a raw socket that does what a test says, a thread per connection.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (ScriptedConnection, ReceivedRequest) -> Void

    private final class Log: Sendable {
        let connections = Locked(0)
        let requests = Locked<[ReceivedRequest]>([])
    }

    private let server: LoopbackHTTPServer
    private let log = Log()

    /// - Parameters:
    ///   - keepsRequests: whether there are ``requests``; those of a long run would fill the memory.
    ///   - script: answers the first request of each connection, which closes when it returns.
    init(keepsRequests: Bool = true, _ script: @escaping Script) throws {
        server = try LoopbackHTTPServer(port: 0) { [log] descriptor, _ in
            let request = ScriptedConnection(number: 0, descriptor: descriptor).receive()
            // Counted by its first request: one that nobody uses must not take the number of another.
            let number = log.connections.withLock { count in
                if request != nil { count += 1 }
                return count
            }
            let connection = ScriptedConnection(number: number, descriptor: descriptor)
            if let request {
                if keepsRequests { log.requests.withLock { $0.append(request) } }
                script(connection, request)
            }
            connection.end()
        }
    }

    /// Every first request of a connection so far.
    var requests: [ReceivedRequest] { log.requests.withLock { $0 } }

    var url: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(server.port)/token")) }
    }

    /// Where sessions ask for something.
    var resource: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(server.port)/resource")) }
    }

    /// What the requests had in their `Authorization` field.
    var authorizations: [String?] { requests.map { $0.fields["authorization"] } }

    /// Returns when all connections are over.
    func stop() async { await onThreadOfItsOwn { self.server.stop() } }
}

/// Runs a test against a server, and stops the server after it.
func withServer<Value>(
    keepsRequests: Bool = true,
    _ script: @escaping ScriptedServer.Script,
    _ body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    let server = try ScriptedServer(keepsRequests: keepsRequests, script)
    let result: Result<Value, any Error>
    do {
        result = .success(try await body(server))
    } catch {
        result = .failure(error)
    }
    await server.stop()
    return try result.get()
}

/// Runs a test against a server that answers each request so.
func withServer<Value>(
    replying status: Int,
    _ reply: String = "",
    _ body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    try await withServer({ connection, _ in connection.reply(status, reply) }, body)
}

/// One connection to a scripted server, which may say anything on it, HTTP or not.
final class ScriptedConnection: Sendable {
    /// Counts the connections that have brought a request, from 1.
    let number: Int
    private let descriptor: SocketDescriptor

    init(number: Int, descriptor: SocketDescriptor) {
        self.number = number
        self.descriptor = descriptor
    }

    /// The next request on this connection, `nil` if the client closed it.
    func receive() -> ReceivedRequest? {
        guard case .complete(let request) = descriptor.nextRequest() else { return nil }
        return ReceivedRequest(request)
    }

    func send(_ text: String) {
        descriptor.send(text)
    }

    /// Sends as much as the client takes; says whether it still takes anything.
    func trySend(_ bytes: [UInt8]) -> Bool {
        descriptor.send(bytes)
    }

    /// A whole reply, after which the connection closes.
    func reply(_ status: Int, _ body: String, fields: [String: String] = ["Content-Type": "application/json"]) {
        let head = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        send(
            "HTTP/1.1 \(status) Reason\r\n\(head)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        )
    }

    /// Sends nothing more, and reads what the client still says: the reply would be lost with it.
    func end() {
        descriptor.endSending()
        while !descriptor.receive(upTo: 65_536).isEmpty {}
    }
}

/// A request as a scripted server received it.
struct ReceivedRequest: Sendable {
    let line: String
    let fields: [String: String]
    let body: String

    /// One with a proof and nothing else.
    init(proof: String?) {
        line = ""
        fields = proof.map { ["dpop": $0] } ?? [:]
        body = ""
    }

    init(_ request: HTTPRequest) {
        line = request.line
        fields = request.fields.compactMapValues(\.first)
        body = String(decoding: request.body, as: UTF8.self)
    }
}

/// Holds a server's thread until the test lets it go on.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Does not hold for ever: a test that fails ends; on a slow machine, a minute is less than a test may need.
    func pass() { _ = semaphore.wait(timeout: .now() + 600) }
}
