import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenContract
import AccessTokenGCD
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A token in the requests of other HTTP clients", .endsHangs)
struct HTTPClientTests {
    private let tokens = AsyncAccessTokenService(
        loader: AsyncCode.RotatingLoader(endpoint: YourEndpoint(), refreshToken: "first")
    )

    /// The first token is rejected, and so is a request without a token.
    nonisolated private static func status(for authorization: String?) -> HTTPStatus {
        authorization == "Bearer token 2" ? .ok : .unauthorized
    }

    @Test func `goes out with a download of URLSession, and the next one after a 401`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let loader = ControlledLoader()
        let tokens = AsyncAccessTokenService(loader: loader)
        await tokens.signIn(AccessToken(value: server.signIn().accessToken))
        server.expireAccessTokens()
        let pictures = URLSessionExample.Pictures(
            url: server.resource.deletingLastPathComponent(),
            tokens: tokens,
            session: .shared
        )
        async let download = pictures.download("resource")
        await loader.started(1)?.answer(.success(AccessToken(value: server.signIn().accessToken)))
        let file = try await download
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
        #expect(first.value(forHTTPHeaderField: "Authorization") == "Bearer token 1")
        // A late 401 for the first token costs no load.
        for _ in 0..<2 { #expect(try await retries(first)) }
        let second = try await adapted("https://api.example/friends")
        #expect(second.value(forHTTPHeaderField: "Authorization") == "Bearer token 2")
        #expect(try await !retries(second, count: 1))
        let elsewhere = try await adapted("https://other.example")
        #expect(elsewhere.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(try await !retries(elsewhere))
    }

    @Test func `goes out with a request of AsyncHTTPClient, and the next one after a 401`() async throws {
        let client = AsyncHTTPClientExample.HTTPClient { Self.status(for: $0.headers.values["Authorization"]) }
        let friends = AsyncHTTPClientExample.Friends(tokens: tokens, client: client)
        #expect(try await friends.friends().status == .ok)
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
        ) { request, _, _ in
            (OpenAPIExample.HTTPResponse(status: Self.status(for: request.headerFields[.authorization])), nil)
        }
        #expect(response.status == (body == .single ? .unauthorized : .ok))
    }
}
