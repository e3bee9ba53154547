import AccessTokenSynchronization
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests of accounts without the accounts: what `URLSession` alone costs, on this machine and at this server.
///
/// As an exchange does, each request has a session and a connection of its own on Linux, and fifty are in flight.
enum BareRequests {
    private static let inFlight = 50

    /// Seconds that a request takes on average.
    static func seconds(_ count: Int, at server: AccountServer) async throws -> Double {
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("grant_type=refresh_token&refresh_token=RT0&client_id=benchmarks".utf8)
        let (each, watch) = (count / inFlight, Stopwatch())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask { [request] in
                    let connections = Connections()
                    for _ in 0..<each { try await connections.send(request) }
                }
            }
            try await group.waitForAll()
        }
        return watch.nanoseconds / 1e9 / Double(each * inFlight)
    }

    private struct Connections {
        #if canImport(FoundationNetworking)
        func send(_ request: URLRequest) async throws {
            let session = URLSession(configuration: .ephemeral)
            defer { session.finishTasksAndInvalidate() }
            _ = try await session.data(for: request)
        }
        #else
        private let session = URLSession(configuration: .ephemeral)

        func send(_ request: URLRequest) async throws { _ = try await session.data(for: request) }
        #endif
    }
}
