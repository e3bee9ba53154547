import Dispatch
import Foundation
import OAuthFoundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The cache of URLSession shares no request that is under way", .takesTurns, .endsHangs)
struct HTTPCacheTests {
    private static let reply = """
        HTTP/1.1 200 \r
        Content-Length: 4\r
        Cache-Control: max-age=3600\r
        Connection: close\r
        \r
        data
        """

    @Test func `two requests at the same moment are both sent, though the reply may be stored`() async throws {
        let (first, second, mayReply) = (Event(), Event(), DispatchSemaphore(value: 0))
        let server = try LoopbackHTTPServer(port: 0) { connection, _ in
            guard case .complete = connection.nextRequest() else { return }
            if first.hasHappened { second.happen() } else { first.happen() }
            mayReply.wait()
            _ = connection.send(Array(Self.reply.utf8))
        }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/picture"))
        async let one = session.data(from: url).0
        await first.wait()
        async let other = session.data(from: url).0
        await second.wait()
        for _ in 1...2 { mayReply.signal() }
        #expect(try await [one, other] == [Data("data".utf8), Data("data".utf8)])
    }
}
