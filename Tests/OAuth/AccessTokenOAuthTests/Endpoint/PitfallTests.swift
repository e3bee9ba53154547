import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `URLSession` does if it is left to itself, each provoked by a server on a raw socket; more of it is in the
/// catalogue of hostile servers.
@Suite("Pitfalls of URLSession", .takesTurns, .endsHangs)
struct PitfallTests {
    @Test func `nothing is kept for the next exchange: no connection, cookie or reply, nor time-outs of the app's`()
        async throws
    {
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = ["X-Own": "yes"]
        configuration.timeoutIntervalForRequest = 0.001
        try await withServer { connection, _ in
            let body = tokens("A\(connection.number)")
            connection.send("HTTP/1.1 200 OK\r\nSet-Cookie: session=1; Path=/\r\nCache-Control: max-age=3600\r\n")
            connection.send("Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            // A second request here would get half of a reply.
            if connection.receive() != nil { connection.send("HTTP/1.1 200 OK\r\n") }
        } _: { server in
            var endpoint = try server.endpoint()
            endpoint.configuration = configuration
            // It was copied.
            configuration.httpAdditionalHeaders = ["X-Own": "no"]
            for number in 1...3 {
                #expect(try await endpoint.exchange(.refreshToken("RT0")).accessToken.value == "A\(number)")
            }
            #expect(server.requests.map { $0.fields["x-own"] } == ["yes", "yes", "yes"])
            #expect(server.requests.map { $0.fields["cookie"] } == [nil, nil, nil])
            #expect(endpoint.configuration?.httpAdditionalHeaders?["X-Own"] as? String == "yes")
            #expect(server.requests.allSatisfy { $0.body.hasPrefix("grant_type=refresh_token&") })
        }
    }

    @Test(arguments: [(0, nil), (1, .bodyTooLong)] as [(Int, OAuthError?)])
    func `a megabyte is read, and not a byte more`(excess: Int, expected: OAuthError?) async throws {
        try await withServer { connection, _ in
            let body = tokens("A1")
            let padding = String(repeating: " ", count: (1 << 20) - body.utf8.count + excess)
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body + padding)
        } _: { server in
            let result = await Task { try await server.endpoint().exchange(.refreshToken("RT0")) }.result
            if case .failure(let error) = result { #expect(error as? OAuthError == expected) }
            #expect((try? result.get())?.accessToken.value == (expected == nil ? "A1" : nil))
        }
    }
}
