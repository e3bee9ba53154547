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
    private let script: Script

    /// - Parameter script: answers the first request of each connection, which closes when it returns.
    init(_ script: @escaping Script) throws {
        self.script = script
        wakePipe = try WakePipe()
        listener = try SocketDescriptor.listening(onPort: 0)
        port = try listener.boundPort()
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

    func stop() {
        wakePipe.wake()
        threads.wait()
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
            guard let descriptor = listener.accept() else { continue }
            descriptor.limitWaiting(seconds: 60)
            number += 1
            let connection = ScriptedConnection(number: number, descriptor: descriptor)
            run { server in server.serve(connection) }
        }
        listener.close()
    }

    private func serve(_ connection: ScriptedConnection) {
        if let request = connection.receive() {
            received.withLock { $0.append(request) }
            script(connection, request)
        }
        connection.close()
    }
}

/// Runs a test against a server, and stops the server after it.
func withServer<Value>(
    _ script: @escaping ScriptedServer.Script,
    _ body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    let server = try ScriptedServer(script)
    defer { server.stop() }
    return try await body(server)
}
