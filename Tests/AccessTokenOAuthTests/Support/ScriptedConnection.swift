import AccessTokenCore

@testable import LoopbackAuthorizationServer

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

    /// Waits until the client has closed its side.
    func waitUntilClosed() {
        while !descriptor.receive(upTo: 65_536).isEmpty {}
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
        waitUntilClosed()
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
