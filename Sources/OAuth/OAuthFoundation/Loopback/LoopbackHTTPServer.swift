import AccessTokenSynchronization
import Dispatch
import Foundation

/// Serves connections on the loopback address, a thread for each.
///
/// Threads that wait for a socket are what a server with a handful of local clients needs, and they
/// keep out of the way of Dispatch and of tasks, which are what the clients are there to show.
package final class LoopbackHTTPServer: Sendable {
    package typealias Service = @Sendable (SocketDescriptor, LoopbackHTTPServer) -> Void

    private struct State {
        var connections: Set<SocketDescriptor> = []
        var isStopping = false
        var isListening = true
    }

    private static let secondsToWaitForAClient = 120
    private static let bytesToDrain = 256 * 1024

    /// The port that it listens on; the system chose it if 0 was asked for.
    package let port: UInt16

    private let serve: Service
    private let address: LoopbackAddress
    private let listener: SocketDescriptor
    private let threads = DispatchGroup()
    private let state = Locked(State())

    /// Listens at once, and until ``stop()``.
    ///
    /// - Parameter serve: is called on the thread of each connection, which closes when it returns.
    /// - Throws: ``SocketFailure`` if the port is taken.
    package init(
        on address: LoopbackAddress = .version4,
        port: UInt16,
        serving serve: @escaping Service
    ) throws(SocketFailure) {
        self.serve = serve
        self.address = address
        (listener, self.port) = try SocketDescriptor.listening(on: address, port: port)
        run { server in server.acceptConnections() }
    }

    /// Answers one HTTP request on each connection; `nil` stands for what is none.
    package convenience init(
        on address: LoopbackAddress = .version4,
        port: UInt16,
        answer: @escaping @Sendable (HTTPRequest?, _ port: UInt16) -> HTTPResponse
    ) throws(SocketFailure) {
        try self.init(on: address, port: port) { connection, server in
            switch connection.nextRequest() {
            case .complete(let request): server.deliver(answer(request, server.port), to: connection)
            case .malformed: server.deliver(answer(nil, server.port), to: connection)
            // The client left, or was silent for too long, before it had said all.
            case .incomplete: break
            }
        }
    }

    /// Takes no more requests, lets the answers under way be sent, and returns when the port is free.
    ///
    /// Calling it again does nothing more. It waits for the server's threads: do not call it from an
    /// answer.
    package func stop() {
        state.withLock { state in
            guard !state.isStopping else { return }
            state.isStopping = true
            // Inside the lock, like all that is done by number: a connection that has closed gives its
            // number to the next one, which need not be this server's.
            for connection in state.connections {
                connection.endReceiving()
            }
        }
        wakeListener()
        threads.wait()
    }

    private func wakeListener() {
        #if canImport(Darwin)
        // There, shutting a listening socket down wakes nobody.
        while state.withLock({ $0.isListening }) {
            if let own = try? SocketDescriptor.connected(to: address, toPort: port) { return own.close() }
            // Out of descriptors: let the connections that hold them end.
            Thread.sleep(forTimeInterval: 0.005)
        }
        #else
        // It needs no descriptor, of which there may be none left. Inside the lock, as above.
        state.withLock { if $0.isListening { listener.endReceiving() } }
        #endif
    }

    private func run(_ body: @escaping @Sendable (LoopbackHTTPServer) -> Void) {
        threads.enter()
        Thread.detachNewThread { [self] in
            body(self)
            threads.leave()
        }
    }

    private func acceptConnections() {
        while true {
            let connection = listener.nextConnection()
            let isStopping = state.withLock { state in
                if let connection, !state.isStopping { state.connections.insert(connection) }
                return state.isStopping
            }
            guard !isStopping else {
                connection?.close()
                break
            }
            if let connection {
                run { server in server.handle(connection) }
            } else {
                // Out of descriptors, as above.
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
        state.withLock { state in
            state.isListening = false
            listener.close()
        }
    }

    private func handle(_ connection: SocketDescriptor) {
        connection.limitWaiting(seconds: Self.secondsToWaitForAClient)
        serve(connection, self)
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
            connection.send(Array(response.bytes.dropLast(max(1, response.body.utf8.count / 2))))
        case .none:
            break
        case .never:
            // Until the client leaves, or `stop()` ends the receiving.
            drain(connection)
        }
        connection.endSending()
        // Closing with bytes unread would reset the connection and take the answer with it.
        drain(connection)
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

extension SocketDescriptor {
    /// Reads one request; it stays incomplete if the client leaves, or is silent for too long.
    package func nextRequest() -> HTTPRequestReader.Progress {
        var reader = HTTPRequestReader()
        while true {
            let bytes = receive(upTo: 4096)
            guard !bytes.isEmpty else { return .incomplete }
            let progress = reader.append(bytes)
            if progress != .incomplete { return progress }
        }
    }
}
