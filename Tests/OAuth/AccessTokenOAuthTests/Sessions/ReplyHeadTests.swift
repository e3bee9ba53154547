import AccessTokenCore
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a session of either kind makes of the head of a reply", .eightAtATime, .timeLimit(.minutes(10)))
struct ReplyHeadTests {
    private static let page = String(repeating: "<p>", count: 1000)

    enum Page: String, CaseIterable, Sendable {
        case tooLong, tooLongWithoutLength, cut

        func send(_ head: String, over connection: ScriptedConnection) {
            let length =
                switch self {
                case .tooLong: "Content-Length: \(page.utf8.count)\r\n"
                case .tooLongWithoutLength: ""
                case .cut: "Content-Length: 99\r\n"
                }
            connection.send("HTTP/1.1 \(head)\r\n\(length)Connection: close\r\n\r\n\(self == .cut ? "<p>" : page)")
        }
    }

    @Test(arguments: Page.allCases, SessionKind.allCases)
    func `a 401 is one, and a redirect is followed, though its page is too long or cut`(page: Page, kind: SessionKind)
        async throws
    {
        try await withServer { connection, _ in
            switch connection.number {
            case 1: page.send("401 Unauthorized", over: connection)
            // URLSession on Linux tells nothing of a redirect whose page is cut.
            case 2 where page != .cut: page.send("302 Found\r\nLocation: /moved", over: connection)
            case 2: connection.reply(302, "", fields: ["Location": "/moved"])
            default: connection.reply(200, "served")
            }
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url], bodyLimit: 100)
            let (data, _) = try await session.data(for: URLRequest(url: try server.resource))
            #expect(String(decoding: data, as: UTF8.self) == "served")
            #expect(server.authorizations == ["Bearer A1", "Bearer A2", "Bearer A2"])
        }
    }

    @Test(arguments: Page.allCases, SessionKind.allCases)
    func `a second 401 with such a page is the error of the page`(page: Page, kind: SessionKind) async throws {
        try await withServer { connection, _ in
            page.send("401 Unauthorized", over: connection)
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url], bodyLimit: 100)
            let error = await #expect(throws: (any Error).self) {
                try await session.data(for: URLRequest(url: try server.resource))
            }
            if page == .cut {
                #expect(error is URLError)
            } else {
                #expect(error as? BearerSessionError == .bodyTooLong(limit: 100))
            }
            #expect(server.authorizations == ["Bearer A1", "Bearer A2"])
        }
    }

    @Test(arguments: ["HEAD", "GET"], SessionKind.allCases)
    func `a length whose body does not come is no body that is too long`(method: String, kind: SessionKind) async throws
    {
        let status = method == "HEAD" ? 200 : 304
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 \(status) Reason\r\nContent-Length: 100000000\r\nConnection: close\r\n\r\n")
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url], bodyLimit: 100)
            var request = URLRequest(url: try server.resource)
            request.httpMethod = method
            let (data, response) = try await session.data(for: request)
            #expect(data.isEmpty && response.status == status)
            #expect(response.expectedContentLength == 100_000_000)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `what is encoded in a redirect stays as it is, and what no URL can have is encoded`(kind: SessionKind)
        async throws
    {
        try await withServer { connection, _ in
            let isFirst = connection.number == 1
            let place = "/mo%ved?s=a%2Bb%3D&q={x}&f[0]=é#a#b"
            connection.reply(isFirst ? 302 : 200, "", fields: isFirst ? ["Location": place] : [:])
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            _ = try await session.data(for: URLRequest(url: try server.resource))
            #expect(server.requests.last?.line == "GET /mo%25ved?s=a%2Bb%3D&q=%7Bx%7D&f%5B0%5D=%C3%A9 HTTP/1.1")
        }
    }

    @Test(arguments: [200, 401]) func `what a delegate has cancelled is no whole reply`(status: Int) async throws {
        let received = Event()
        let gate = Gate()
        try await withServer { connection, _ in
            received.happen()
            gate.pass()
            connection.reply(200, "")
        } _: { server in
            defer { gate.open() }
            let (url, answered) = (try server.resource, Event())
            let code = Locked<URLError.Code?>(nil)
            let exchange = HTTPExchange(URLRequest(url: url), to: .memory(limit: 100))
            exchange.start(over: HTTPConnections(.keepingNothing)) { result in
                if case .failure(let error) = result { code.withLock { $0 = (error as? URLError)?.code } }
                answered.happen()
            }
            await received.wait()
            // As the connection would say it: URLSession on Linux may end the process if it has to cancel here.
            let task = URLSession.shared.dataTask(with: url)
            let fields = ["Content-Length": "10"]
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
            exchange.take(try #require(response), of: task)
            exchange.take(Data("half".utf8), of: task)
            exchange.complete(URLError(.cancelled))
            await answered.wait()
            #expect(code.withLock { $0 } == .cancelled)
        }
    }
}
