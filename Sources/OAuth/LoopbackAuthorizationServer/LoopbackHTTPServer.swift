import AccessTokenCore
import Dispatch
import Foundation

/// Answers HTTP requests on the loopback address: a thread per connection, one request on each.
///
/// Threads that wait for a socket are what a server with a handful of local clients needs, and they
/// keep out of the way of Dispatch and of tasks, which are what the clients are there to show.
final class LoopbackHTTPServer: Sendable {
    private struct State {
        var connections: Set<SocketDescriptor> = []
        var isStopping = false
    }

    private static let secondsToWaitForAClient = 120
    private static let bytesToDrain = 256 * 1024

    /// The port that it listens on; the system chose it if 0 was asked for.
    let port: UInt16

    private let answer: @Sendable (HTTPRequest?) -> HTTPResponse
    private let listener: SocketDescriptor
    private let wakePipe: WakePipe
    private let threads = DispatchGroup()
    private let state = Locked(State())

    /// Listens at once, and until ``stop()``.
    ///
    /// - Parameter answer: gets `nil` for what is no request.
    /// - Throws: ``SocketError`` if the port is taken.
    init(port: UInt16, answer: @escaping @Sendable (HTTPRequest?) -> HTTPResponse) throws(SocketError) {
        self.answer = answer
        wakePipe = try WakePipe()
        do throws(SocketError) {
            (listener, self.port) = try SocketDescriptor.listening(onPort: port)
        } catch {
            wakePipe.close()
            throw error
        }
        run { server in server.acceptConnections() }
    }

    /// Takes no more requests, lets the answers under way be sent, and returns when the port is free.
    ///
    /// Calling it again does nothing more. It waits for the server's threads: do not call it from an
    /// answer.
    func stop() {
        let isFirst = state.withLock { state in
            guard !state.isStopping else { return false }
            state.isStopping = true
            // Inside the lock, like all that is done by number: a connection that has closed gives its
            // number to the next one, which need not be this server's.
            for connection in state.connections {
                connection.endReceiving()
            }
            return true
        }
        if isFirst {
            wakePipe.wake()
        }
        threads.wait()
        if isFirst {
            wakePipe.close()
        }
    }

    private func run(_ body: @escaping @Sendable (LoopbackHTTPServer) -> Void) {
        threads.enter()
        Thread.detachNewThread { [self] in
            body(self)
            threads.leave()
        }
    }

    private func acceptConnections() {
        while wakePipe.waitForConnection(on: listener) {
            guard let connection = listener.nextConnection() else {
                // Out of descriptors: let the connections that hold them end.
                Thread.sleep(forTimeInterval: 0.005)
                continue
            }
            let isWelcome = state.withLock { state in
                guard !state.isStopping else { return false }
                state.connections.insert(connection)
                return true
            }
            guard isWelcome else {
                connection.close()
                continue
            }
            run { server in server.serve(connection) }
        }
        listener.close()
    }

    private func serve(_ connection: SocketDescriptor) {
        connection.limitWaiting(seconds: Self.secondsToWaitForAClient)
        if let response = response(to: connection) {
            deliver(response, to: connection)
            // Closing with bytes unread would reset the connection and take the answer with it.
            drain(connection)
        }
        state.withLock { state in
            state.connections.remove(connection)
            connection.close()
        }
    }

    private func deliver(_ response: HTTPResponse, to connection: SocketDescriptor) {
        switch response.delivery {
        case .whole:
            connection.send(response.bytes)
        case .late(let seconds):
            let end = Date.now.addingTimeInterval(seconds)
            while Date.now < end, !state.withLock({ $0.isStopping }) { Thread.sleep(forTimeInterval: 0.005) }
            connection.send(response.bytes)
        case .half:
            connection.send(Array(response.bytes.dropLast(max(1, response.json.utf8.count / 2))))
        case .none:
            break
        case .never:
            // Until the client leaves, or `stop()` ends the receiving.
            drain(connection)
        }
        connection.endSending()
    }

    /// `nil` if the client left, or was silent for too long, before it had said all.
    private func response(to connection: SocketDescriptor) -> HTTPResponse? {
        var reader = HTTPRequestReader()
        while true {
            let bytes = connection.receive(upTo: 4096)
            guard !bytes.isEmpty else { return nil }
            switch reader.append(bytes) {
            case .incomplete: continue
            case .complete(let request): return answer(request)
            case .malformed: return answer(nil)
            }
        }
    }

    private func drain(_ connection: SocketDescriptor) {
        var count = 0
        while count < Self.bytesToDrain {
            let bytes = connection.receive(upTo: 4096)
            guard !bytes.isEmpty else { return }
            count += bytes.count
        }
    }
}
