import AccessTokenCore
import TestSupport

@testable import OAuthFoundation

/// What a proxy before a real server does to an exchange.
enum Fault: Sendable {
    case none
    /// The server never hears of it; the client gets this instead.
    case answer(status: Int, body: String)
    /// The server carries it out, and the client hears nothing of it.
    case loseReply
    /// The server carries it out, and the client gets half of the body.
    case cutBody
    /// The server hears of it once the gate is open.
    case holdRequest(Event, Gate)
    /// The server has carried it out; the client hears of it once the gate is open.
    case holdReply(Event, Gate)

    func carryOut(_ request: ReceivedRequest, on connection: ScriptedConnection, to server: RealServer) {
        switch self {
        case .answer(let status, let body):
            return connection.reply(status, body, fields: ["Content-Type": "text/html"])
        case .holdRequest(let arrived, let gate):
            arrived.happen()
            gate.pass()
        default: break
        }
        guard let reply = Self.reply(of: server, to: request) else { return }
        switch self {
        case .loseReply: break
        case .cutBody:
            let head = reply.firstRange(of: "\r\n\r\n").map { reply[..<$0.upperBound] } ?? ""
            connection.send(String(head + reply[head.endIndex...].prefix((reply.count - head.count) / 2)))
        case .holdReply(let arrived, let gate):
            arrived.happen()
            gate.pass()
            connection.send(reply)
        default: connection.send(reply)
        }
    }

    /// The server's reply as it is on the wire; `nil` if there is no server.
    private static func reply(of server: RealServer, to request: ReceivedRequest) -> String? {
        guard let connection = try? SocketDescriptor.connected(toPort: server.port) else { return nil }
        connection.limitWaiting(seconds: 60)
        // One exchange on a connection: its end is the end of the reply.
        let fields = request.fields.merging(["connection": "close"]) { $1 }
        let head = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        connection.send("\(request.line)\r\n\(head)\r\n\(request.body)")
        let reply = connection.rest()
        return reply.isEmpty ? nil : reply
    }
}

/// Runs a test with a proxy before a server that does these things to the first exchanges, and nothing to later ones.
func withProxy<Value>(
    to server: RealServer,
    _ faults: [Fault],
    body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    try await withServer { connection, request in
        let index = connection.number - 1
        (index < faults.count ? faults[index] : .none).carryOut(request, on: connection, to: server)
    } _: { proxy in
        try await body(proxy)
    }
}
