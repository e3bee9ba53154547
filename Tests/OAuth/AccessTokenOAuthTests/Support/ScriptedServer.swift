import AccessTokenCore
import Dispatch
import Foundation
import Testing

@testable import LoopbackAuthorizationServer

/// A server on a raw socket that does what a test says, a thread per connection.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (ScriptedConnection, ReceivedRequest) -> Void

    private let listener: SocketDescriptor
    private let wakePipe: WakePipe
    private let port: UInt16
    private let threads = DispatchGroup()
    private let received = Locked<[ReceivedRequest]>([])
    private let keepsRequests: Bool
    private let script: Script

    /// - Parameters:
    ///   - keepsRequests: whether there are ``requests``; those of a long run would fill the memory.
    ///   - script: answers the first request of each connection, which closes when it returns.
    init(keepsRequests: Bool = true, _ script: @escaping Script) throws {
        self.keepsRequests = keepsRequests
        self.script = script
        wakePipe = try WakePipe()
        (listener, port) = try SocketDescriptor.listening(onPort: 0)
        run { server in server.accept() }
    }

    /// Every first request of a connection so far.
    var requests: [ReceivedRequest] { received.withLock { $0 } }

    var url: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(port)/token")) }
    }

    /// Where sessions ask for something.
    var resource: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(port)/resource")) }
    }

    /// What the requests had in their `Authorization` field.
    var authorizations: [String?] { requests.map { $0.fields["authorization"] } }

    /// Returns when all connections are over.
    ///
    /// It blocks no thread, since who closes a connection may need the pool.
    func stop() async {
        wakePipe.wake()
        await withCheckedContinuation { continuation in
            threads.notify(queue: DispatchQueue(label: "scripted server")) { continuation.resume() }
        }
        wakePipe.close()
    }

    private func run(_ body: @escaping @Sendable (ScriptedServer) -> Void) {
        threads.enter()
        Thread.detachNewThread { [self] in
            body(self)
            threads.leave()
        }
    }

    private func accept() {
        var number = 0
        while wakePipe.waitForConnection(on: listener) {
            guard let descriptor = listener.nextConnection() else { continue }
            descriptor.limitWaiting(seconds: 60)
            number += 1
            let connection = ScriptedConnection(number: number, descriptor: descriptor)
            run { server in server.serve(connection) }
        }
        listener.close()
    }

    private func serve(_ connection: ScriptedConnection) {
        if let request = connection.receive() {
            if keepsRequests { received.withLock { $0.append(request) } }
            script(connection, request)
        }
        connection.close()
    }
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

/// One connection to a scripted server, which may say anything on it, HTTP or not.
final class ScriptedConnection: Sendable {
    /// Counts from 1.
    let number: Int
    private let descriptor: SocketDescriptor

    init(number: Int, descriptor: SocketDescriptor) {
        self.number = number
        self.descriptor = descriptor
    }

    /// The next request on this connection, `nil` if the client closed it.
    func receive() -> ReceivedRequest? {
        var bytes: [UInt8] = []
        while true {
            if let request = request(in: bytes) { return request }
            let more = descriptor.receive(upTo: 65_536)
            guard !more.isEmpty else { return nil }
            bytes += more
        }
    }

    func send(_ text: String) {
        descriptor.send(Array(text.utf8))
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

    func close() {
        descriptor.endSending()
        while !descriptor.receive(upTo: 65_536).isEmpty {}
        descriptor.close()
    }

    private func request(in bytes: [UInt8]) -> ReceivedRequest? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let request = ReceivedRequest(head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
        let length = request.fields["content-length"].flatMap { Int($0) } ?? 0
        return request.body.utf8.count >= length ? request : nil
    }
}

/// A request as a scripted server received it.
struct ReceivedRequest: Sendable {
    let line: String
    let fields: [String: String]
    let body: String

    init(head: String, body: String) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        line = String(lines.first ?? "")
        var fields: [String: String] = [:]
        for field in lines.dropFirst() {
            guard let colon = field.firstIndex(of: ":") else { continue }
            fields[field[..<colon].lowercased()] = field[field.index(after: colon)...].trimmingPrefix(" ").description
        }
        self.fields = fields
        self.body = body
    }
}

/// Holds a server's thread until the test lets it go on.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Does not hold for ever: a test that fails ends; on a slow machine, a minute is less than a test may need.
    func pass() { _ = semaphore.wait(timeout: .now() + 600) }
}
