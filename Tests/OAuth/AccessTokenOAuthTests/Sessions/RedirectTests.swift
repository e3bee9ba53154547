import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session of either kind, and a server that redirects", .eightAtATime, .timeLimit(.minutes(10)))
struct RedirectTests {
    private static let statuses = [301, 302, 303, 307, 308]

    @Test(arguments: statuses, SessionKind.allCases)
    func `the token does not follow to another origin, nor back from there`(status: Int, kind: SessionKind) async throws
    {
        let home = Locked("")
        try await withServer { connection, _ in
            connection.reply(status, "", fields: ["Location": home.withLock { $0 }])
        } _: { stranger in
            let away = try stranger.resource.absoluteString
            try await withServer { connection, request in
                let isFirst = request.line.contains("resource")
                connection.reply(isFirst ? status : 200, "end", fields: isFirst ? ["Location": away] : [:])
            } _: { server in
                let end = try server.url.absoluteString
                home.withLock { $0 = end }
                // That the other one is allowed as well makes no difference: the caller did not ask it.
                let session = kind.session(
                    SampleTokens.service().0,
                    origins: [try server.url, try stranger.url]
                )
                var request = URLRequest(url: try server.resource)
                request.httpMethod = "POST"
                let (data, response) = try await session.upload(for: request, from: Data("body".utf8))
                #expect(String(decoding: data, as: UTF8.self) == "end")
                #expect(response.status == 200)
                #expect(server.authorizations == ["Bearer A1", nil])
                #expect(stranger.authorizations == [nil])
                // URLSession on Linux would have sent these without their bodies.
                let expected = status >= 307 ? "body" : ""
                #expect(stranger.requests.map(\.body) == [expected])
                #expect(stranger.requests.map { $0.line.prefix(4) } == [status >= 307 ? "POST" : "GET "])
            }
        }
    }

    @Test(arguments: statuses, SessionKind.allCases)
    func `within the origin it does`(status: Int, kind: SessionKind) async throws {
        try await withServer { connection, request in
            if request.line.contains("resource") {
                connection.reply(status, "", fields: ["Location": "token?a=b%20c"])
            } else {
                connection.reply(200, "end")
            }
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let (data, response) = try await session.contents(for: URLRequest(url: try server.resource))
            #expect(String(decoding: data, as: UTF8.self) == "end")
            #expect(response.url?.path() == "/token")
            #expect(server.authorizations == ["Bearer A1", "Bearer A1"])
            #expect(server.requests.last?.line == "GET /token?a=b%20c HTTP/1.1")
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a 401 of another origin is not about our token`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(401, "", fields: ["WWW-Authenticate": "Bearer"])
        } _: { stranger in
            let away = try stranger.resource.absoluteString
            try await withServer { connection, _ in
                connection.reply(302, "", fields: ["Location": away])
            } _: { server in
                let (service, loader) = SampleTokens.service()
                let session = kind.session(service, origins: [try server.url])
                #expect(try await session.data(for: URLRequest(url: try server.resource)).1.status == 401)
                #expect(service.currentToken == AccessToken(value: "A1"))
                #expect(loader.loads == 1)
                #expect(stranger.requests.count == 1)
            }
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a redirect to nowhere is the reply, and one in a circle ends`(kind: SessionKind) async throws {
        try await withServer { connection, request in
            let isCircle = request.line.contains("resource")
            connection.reply(302, "", fields: isCircle ? ["Location": "/resource"] : [:])
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            #expect(try await session.data(for: URLRequest(url: try server.url)).1.status == 302)
            let error = await #expect(throws: URLError.self) {
                try await session.data(for: URLRequest(url: try server.resource))
            }
            #expect(error?.code == .httpTooManyRedirects)
            #expect(server.requests.count == 22)
        }
    }

    @Test(arguments: [
        ("HEAD", 303, "HEAD"), ("HEAD", 302, "HEAD"), ("GET", 303, "GET"), ("POST", 303, "GET"), ("PUT", 301, "PUT"),
        ("PUT", 303, "GET"), ("POST", 307, "POST"),
    ])
    func `a redirect changes the method only as browsers do`(method: String, status: Int, next: String) throws {
        let url = try #require(URL(string: "https://api.example/a"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = method == "GET" || method == "HEAD" ? nil : Data("body".utf8)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: ["Location": "/b"])
        )
        let redirect = try #require(HTTPRedirect(response, of: request))
        #expect(redirect.request.httpMethod == next)
        #expect(redirect.request.url?.path() == "/b")
        #expect(redirect.dropsBody == (status == 303 && method != "HEAD" || method == "POST" && status < 303))
        #expect((redirect.request.value(forHTTPHeaderField: "Content-Type") == nil) == redirect.dropsBody)
    }
}
