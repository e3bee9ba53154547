import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenCore
import AccessTokenGCD
import Foundation
import LoopbackAuthorizationServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Brings these tokens one after the other.
nonisolated private final class Listed: AsyncAccessTokenLoader {
    private let values: Locked<[String]>

    init(_ values: [String]) { self.values = Locked(values) }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        AccessToken(value: values.withLock { $0.removeFirst() })
    }
}

@Suite("A token in the requests of other HTTP clients", .timeLimit(.minutes(10)))
struct HTTPClientTests {
    private let tokens = AsyncAccessTokenService(loader: Listed(["A1", "A2"]))
    private let sent = Log()

    /// What was sent; all but the first token is accepted.
    nonisolated private final class Log: Sendable {
        private let fields = Locked<[String?]>([])

        var all: [String?] { fields.withLock { $0 } }

        func accepts(_ field: String?) -> Bool {
            fields.withLock { $0.append(field) }
            return field != "Bearer A1"
        }
    }

    @Test func `goes out with a download of URLSession, and the next one after a 401`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let old = server.signIn()
        server.expireAccessTokens()
        let pictures = URLSessionExample.Pictures(
            url: server.resource.deletingLastPathComponent(),
            tokens: AsyncAccessTokenService(loader: Listed([old.accessToken, server.signIn().accessToken])),
            session: .shared
        )
        let file = try await pictures.download("resource")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try String(contentsOf: file, encoding: .utf8).contains("served"))
    }

    @Test func `goes out with a request of Alamofire, and the next one after a 401`() async throws {
        let interceptor = AlamofireExample.TokenInterceptor(
            tokens: CallbackServiceAdapter(of: tokens),
            host: "api.example"
        )
        let session = AlamofireExample.Session()
        func adapted(_ url: String) async throws -> URLRequest {
            let request = URLRequest(url: try #require(URL(string: url)))
            return try await withCheckedThrowingContinuation { adapted in
                interceptor.adapt(request, for: session) { adapted.resume(with: $0) }
            }
        }
        func retries(_ request: URLRequest, count: Int = 0) async throws -> Bool {
            let url = try #require(request.url)
            let response = HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil)
            let failed = AlamofireExample.Request(request: request, response: response, retryCount: count)
            return await withCheckedContinuation { decided in
                interceptor.retry(failed, for: session, dueTo: URLError(.unknown)) {
                    decided.resume(returning: $0 == .retry)
                }
            }
        }
        let first = try await adapted("https://api.example/friends")
        #expect(first.value(forHTTPHeaderField: "Authorization") == "Bearer A1")
        // A late 401 for the first token costs no load.
        for _ in 0..<2 { #expect(try await retries(first)) }
        let second = try await adapted("https://api.example/friends")
        #expect(second.value(forHTTPHeaderField: "Authorization") == "Bearer A2")
        #expect(try await !retries(second, count: 1))
        let elsewhere = try await adapted("https://other.example")
        #expect(elsewhere.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(try await !retries(elsewhere))
    }

    @Test func `goes out with a request of AsyncHTTPClient, and the next one after a 401`() async throws {
        let client = AsyncHTTPClientExample.HTTPClient { [sent] request in
            sent.accepts(request.headers.values["Authorization"]) ? .ok : .unauthorized
        }
        let friends = AsyncHTTPClientExample.Friends(tokens: tokens, client: client)
        #expect(try await friends.friends().status == .ok)
        #expect(sent.all == ["Bearer A1", "Bearer A2"])
    }

    @Test(arguments: [nil, .multiple, .single] as [OpenAPIExample.HTTPBody.IterationBehavior?])
    func `goes out with a request of a generated client, and once more unless its body is used up`(
        body: OpenAPIExample.HTTPBody.IterationBehavior?
    ) async throws {
        let middleware = OpenAPIExample.TokenMiddleware(tokens: tokens)
        let url = try #require(URL(string: "https://api.example"))
        let (response, _) = try await middleware.intercept(
            OpenAPIExample.HTTPRequest(),
            body: body.map { OpenAPIExample.HTTPBody(iterationBehavior: $0) },
            baseURL: url,
            operationID: "friends"
        ) { [sent] request, _, _ in
            let isAccepted = sent.accepts(request.headerFields[.authorization])
            return (OpenAPIExample.HTTPResponse(status: isAccepted ? .ok : .unauthorized), nil)
        }
        #expect(response.status == (body == .single ? .unauthorized : .ok))
        #expect(sent.all == (body == .single ? ["Bearer A1"] : ["Bearer A1", "Bearer A2"]))
    }
}
