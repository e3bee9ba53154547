import AccessTokenAsync
import Foundation

nonisolated enum OpenAPIExample {
    struct TokenMiddleware: ClientMiddleware {
        let tokens: any AsyncAccessTokenProviding

        func intercept(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String,
            next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?) {
            let canRepeat = body?.iterationBehavior != .single
            return try await tokens.withToken { (reply: (HTTPResponse, HTTPBody?)) in
                reply.0.status == .unauthorized && canRepeat
            } send: { token in
                var request = request
                request.headerFields[.authorization] = "Bearer \(token.value)"
                let reply = try await next(request, body, baseURL)
                if reply.0.status == .unauthorized && !canRepeat { await tokens.invalidate(token) }
                return reply
            }
        }
    }
}
