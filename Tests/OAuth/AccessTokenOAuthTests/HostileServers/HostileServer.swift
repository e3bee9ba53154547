import Foundation
import Testing

/// How a server misbehaves, and what follows from it for the token endpoint and for a resource.
struct HostileServer: Sendable, CustomTestStringConvertible {
    /// What the server does with a request, one step after the other.
    ///
    /// After the last step it closes the connection.
    enum Step: Sendable {
        case send(String)
        /// A whole reply.
        case whole(status: Int, String)
        case bytes([UInt8])
        /// Leaves the client time to read what came before as a packet of its own.
        case pause
        /// Sends these bytes until the client has gone, with pauses as a network has them.
        case flood(String)
        /// Says nothing more until the client has gone, or the test is over.
        case silence
    }

    /// What an exchange of `RT0-secret` comes to, and what is in the store after it.
    enum Exchange: Hashable, Sendable {
        /// `A1` is the answer, and `RT1` is stored.
        case token
        /// The user has to sign in again, and the store is empty.
        case signIn
        /// A mistake of configuration; the credential is kept.
        case configuration
        /// Not understood; the credential is kept.
        case notUnderstood
        /// An error as above, but `RT1` came, and is stored.
        case rescued
        /// Later again, since the request was surely not carried out; the credential is kept.
        case later(after: TimeInterval?)
        /// Once again, since the request may have been carried out; the credential is kept.
        case onceAgain
        /// No reply before the deadline; the credential is kept.
        case timedOut
        /// More than a megabyte; the credential is kept.
        case tooLong
        /// The system does not take the head; another try would not help, and the credential is kept.
        case unreadableHead
    }

    /// What a request with a token comes to.
    enum Resource: Hashable, Sendable {
        /// The reply with this status, and no renewal of the token.
        case status(Int)
        /// A 401 after one renewal.
        case rejected
        /// An error of `URLSession`.
        case error(Set<URLError.Code>)
        /// More than the session reads.
        case tooLong

        static let anyError = Resource.error([])
    }

    let name: String
    let steps: [Step]
    let exchange: Exchange
    let resource: Resource

    var testDescription: String { name }

    /// - Parameter resource: what a resource comes to; where nothing is said, that is the status of the reply.
    init(name: String, steps: [Step], exchange: Exchange, resource: Resource? = nil) {
        let status = steps.lazy.compactMap { if case .whole(let status, _) = $0 { status } else { nil } }.first ?? 0
        self.name = name
        self.steps = steps
        self.exchange = exchange
        self.resource = resource ?? (status == 401 ? .rejected : .status(status))
    }

    /// Whether only body and status tell it from a good server, and the status means nothing to `URLSession`.
    var isOrdinaryReply: Bool {
        guard steps.count == 1, case .whole(let status, _) = steps[0] else { return false }
        return [200, 400, 403, 418, 500, 501, 502, 503, 504].contains(status)
    }

    /// Whether only a clock ends the exchange.
    var isSilent: Bool { exchange == .timedOut }

    func answer(_ connection: ScriptedConnection, until isOver: @Sendable () -> Bool) {
        for step in steps {
            switch step {
            case .send(let text), .whole(_, let text): connection.send(text)
            case .bytes(let bytes): _ = connection.trySend(bytes)
            case .pause: Thread.sleep(forTimeInterval: 0.02)
            case .flood(let text):
                let piece = Array(text.utf8)
                while !isOver(), connection.trySend(piece) { Thread.sleep(forTimeInterval: 0.001) }
            case .silence:
                while !isOver() { Thread.sleep(forTimeInterval: 0.005) }
            }
        }
    }
}

extension HostileServer.Step {
    /// A whole reply.
    static func reply(_ status: Int, _ body: String, _ fields: String...) -> Self {
        let head =
            (["HTTP/1.1 \(status) Reason"] + fields + ["Content-Length: \(body.utf8.count)", "Connection: close"])
        return .whole(status: status, head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// A success whose body is framed by these fields only.
    static func framed(_ fields: String..., body: String) -> Self {
        .send((["HTTP/1.1 200 OK"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// A good reply of the token endpoint.
    static let token = Self.reply(200, tokens("A1", "RT1"))

    static func interim(_ status: Int, _ fields: String...) -> Self {
        .send((["HTTP/1.1 \(status) Interim"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
    }
}
