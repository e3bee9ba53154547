import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stand for what the examples use of Alamofire 5.10 (`Source/Features/RequestInterceptor.swift`).
nonisolated extension AlamofireExample {
    final class Session: Sendable {}

    struct Request: Sendable {
        var request: URLRequest?
        var response: HTTPURLResponse?
        var retryCount = 0
    }

    enum RetryResult: Sendable {
        case retry, doNotRetry
    }

    protocol RequestInterceptor: Sendable {
        func adapt(
            _ urlRequest: URLRequest,
            for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        )
        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        )
    }
}

/// Stand for what the example uses of swift-openapi-runtime 1.x (`ClientMiddleware`, `HTTPBody`) and swift-http-types.
nonisolated extension OpenAPIExample {
    enum FieldName: Hashable, Sendable {
        case authorization
    }

    struct HTTPRequest: Sendable {
        var headerFields: [FieldName: String] = [:]
    }

    enum Status: Sendable {
        case ok, unauthorized
    }

    struct HTTPResponse: Sendable {
        let status: Status
    }

    struct HTTPBody: Sendable {
        enum IterationBehavior: Sendable {
            case single, multiple
        }

        let iterationBehavior: IterationBehavior
    }

    protocol ClientMiddleware: Sendable {
        func intercept(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String,
            next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?)
    }
}
